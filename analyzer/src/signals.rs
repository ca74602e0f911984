//! What a process does with signals, as `/proc/PID/status` has it.

/// Whether one of the masks there, like `SigCgt`, has a signal; nothing if it is not told.
pub fn has(status: &str, mask: &str, signal: i32) -> Option<bool> {
    let told = status.lines().find_map(|line| line.strip_prefix(mask))?;
    let mask = u64::from_str_radix(told.strip_prefix(':')?.trim(), 16).ok()?;
    Some(mask & 1 << (signal - 1) != 0)
}
