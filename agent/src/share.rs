//! A share of the processors, as in the option `cpu`.

use std::time::Duration;

/// A share of CPU time, in millionths of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share(pub(crate) u32);

impl Share {
    /// Parses `1%` or `0.25%`: more than nothing, and at most one core.
    pub(crate) fn parse(text: &str) -> Option<Share> {
        let digits = text.strip_suffix('%')?.trim_end();
        if !digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            return None;
        }
        let percent: f64 = digits.parse().ok()?;
        let share = (percent * 10_000.0).round();
        (1.0..=1_000_000.0)
            .contains(&share)
            .then_some(Share(share as u32))
    }

    /// The share of a time, in nanoseconds.
    pub(crate) fn of(self, time: Duration) -> i64 {
        let nanos = time.as_nanos() * u128::from(self.0) / 1_000_000;
        i64::try_from(nanos).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn shares_are_read() {
        for (text, millionths) in [("1%", 10_000), ("0.25%", 2_500), ("100 %", 1_000_000)] {
            assert_eq!(Share::parse(text), Some(Share(millionths)), "{text}");
        }
        for text in [
            "1", "%", "0%", "101%", "-1%", "1e0%", "nan%", "inf%", "1.2.3%",
        ] {
            assert_eq!(Share::parse(text), None, "{text}");
        }
    }
}
