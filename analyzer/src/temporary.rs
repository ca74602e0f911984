//! Temporary directories: they go with the process, also where it is told to end.

use anyhow::{Context, Result};
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;
use std::{fs, process, thread};
use tempfile::TempDir;

/// Those that there are.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static HANDLED: Once = Once::new();

/// How a shell tells that a program was interrupted.
const INTERRUPTED: i32 = 130;
/// How often it is tried to remove a directory, into which a child that ends may still write.
const TRIES: u32 = 20;

/// Makes one. `SIGINT`, `SIGTERM` and `SIGHUP` remove it from now on before they end the process.
///
/// # Errors
///
/// Fails if it cannot be made.
pub fn directory() -> Result<TempDir> {
    HANDLED.call_once(|| {
        // Without, directories are left behind, and all else is as it should be.
        let _ = ctrlc::set_handler(|| {
            let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
            for _ in 0..TRIES {
                let left = all.iter().filter(|path| path.exists());
                let left = left.filter(|path| fs::remove_dir_all(path).is_err());
                if left.count() == 0 {
                    break;
                }
                thread::sleep(Duration::from_millis(50));
            }
            process::exit(INTERRUPTED);
        });
    });
    let made = tempfile::tempdir().with_context(|| {
        let place = std::env::temp_dir();
        let place = place.display();
        format!(
            "failed to make a directory in {place} for temporary files; TMPDIR names another place"
        )
    })?;
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|path| path.exists());
    all.push(made.path().to_owned());
    Ok(made)
}
