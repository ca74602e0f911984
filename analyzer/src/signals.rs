//! How a process handles signals, according to `/proc/PID/status`.

/// Whether one of the masks there, such as `SigCgt`, contains a signal; `None` if the file has no
/// such mask.
pub fn has(status: &str, mask: &str, signal: i32) -> Option<bool> {
    let told = status.lines().find_map(|line| line.strip_prefix(mask))?;
    let mask = u64::from_str_radix(told.strip_prefix(':')?.trim(), 16).ok()?;
    Some(mask & 1 << (signal - 1) != 0)
}
