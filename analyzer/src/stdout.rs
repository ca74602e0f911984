//! The writer of results. Its reader may have gone, as `head` does, which is not a failure.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::iter;

/// A writer that remembers whether its reader has gone: a broken pipe may also be that of a socket
/// or of an output file.
#[derive(Debug)]
pub struct Stdout<W> {
    inner: W,
    has_lost_reader: bool,
}

impl<W: Write> Stdout<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> Stdout<W> {
        Stdout {
            inner,
            has_lost_reader: false,
        }
    }

    /// Whether an error only means that nobody reads on.
    pub fn is_unread(&self, error: &(dyn Error + 'static)) -> bool {
        self.has_lost_reader && is_broken_pipe(error)
    }

    fn noted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        let kind = result.as_ref().err().map(io::Error::kind);
        self.has_lost_reader |= kind == Some(ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Stdout<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.noted(flushed)
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    iter::successors(Some(error), |&cause| cause.source()).any(|cause| {
        let of_io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        // This error does not name its cause.
        let of_json = cause
            .downcast_ref()
            .and_then(serde_json::Error::io_error_kind);
        of_io.or(of_json) == Some(ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Error;

    #[test]
    fn only_its_own_broken_pipe_is_no_failure() {
        let (reader, writer) = io::pipe().unwrap();
        let mut out = Stdout::new(writer);
        out.write_all(b"read").unwrap();
        let others = || Error::new(io::Error::from(ErrorKind::BrokenPipe)).context("a socket");
        assert!(!out.is_unread(others().as_ref()));
        drop(reader);
        let plain = Error::new(out.write_all(b"unread").unwrap_err());
        let json = Error::new(serde_json::to_writer(&mut out, "unread").unwrap_err());
        assert!(out.is_unread(plain.as_ref()) && out.is_unread(json.as_ref()));
        assert!(!out.is_unread(Error::msg("no such file").as_ref()));
    }
}
