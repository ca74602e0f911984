//! Lists a directory whose links are followed, because their targets are part of a class path.

use crate::files::{Error, failed};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file or a directory.
#[derive(Debug)]
pub struct Item {
    /// The path from the listed directory on.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
}

/// The kind of an item.
#[derive(Debug)]
pub enum Kind {
    /// A directory, which its content follows.
    Folder,
    /// A file of this many bytes.
    File(u64),
    /// A link to an enclosing directory, which leads to all of that again.
    Circle,
    /// A socket, a pipe or a dangling link.
    Odd(&'static str),
    /// An item that cannot be read; the error has its name.
    Unreadable(Error),
}

/// The error of too many links, one after the other.
const ELOOP: i32 = 40;

/// Lists a directory, each directory before its content, by name. Links are followed. What is at
/// `leave_out` is not listed.
///
/// # Errors
///
/// Fails if the directory itself cannot be read.
pub fn list(root: &Path, leave_out: Option<&Path>) -> Result<Vec<Item>, Error> {
    let real = fs::canonicalize(root).map_err(failed("read", root))?;
    let mut walk = Walk {
        root,
        leave_out: leave_out.and_then(|path| fs::canonicalize(path).ok()),
        above: real.ancestors().skip(1).map(Path::to_path_buf).collect(),
        found: Vec::new(),
    };
    walk.folder(Path::new(""), real)?;
    Ok(walk.found)
}

struct Walk<'a> {
    root: &'a Path,
    leave_out: Option<PathBuf>,
    /// The directories that enclose the present one, without links.
    above: HashSet<PathBuf>,
    found: Vec<Item>,
}

impl Walk<'_> {
    /// Lists the content of a directory, whose path without links is `real`.
    fn folder(&mut self, folder: &Path, real: PathBuf) -> Result<(), Error> {
        if Some(&real) == self.leave_out.as_ref() {
            return Ok(());
        }
        let full = self.root.join(folder);
        let names = || -> io::Result<Vec<_>> {
            let entries = fs::read_dir(&full)?;
            entries.map(|entry| Ok(entry?.file_name())).collect()
        };
        let mut names = names().map_err(failed("read", &full))?;
        names.sort();
        self.above.insert(real.clone());
        for name in names {
            self.item(folder.join(name));
        }
        self.above.remove(&real);
        Ok(())
    }

    fn item(&mut self, path: PathBuf) {
        let full = self.root.join(&path);
        let kind = match fs::metadata(&full) {
            Ok(metadata) if metadata.is_dir() => match fs::canonicalize(&full) {
                Ok(real) if self.above.contains(&real) => Kind::Circle,
                Ok(real) => {
                    let kind = Kind::Folder;
                    let at = path.clone();
                    self.found.push(Item { path: at, kind });
                    match self.folder(&path, real) {
                        Ok(()) => return,
                        Err(error) => Kind::Unreadable(error),
                    }
                }
                Err(error) => Kind::Unreadable(failed("read", &full)(error)),
            },
            Ok(metadata) if metadata.is_file() => Kind::File(metadata.len()),
            Ok(_) => Kind::Odd("neither a file nor a directory"),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    || error.raw_os_error() == Some(ELOOP) =>
            {
                Kind::Odd("a link that leads nowhere")
            }
            Err(error) => Kind::Unreadable(failed("read", &full)(error)),
        };
        self.found.push(Item { path, kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_but_in_no_circle() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        fs::create_dir_all(at("root/a/b")).unwrap();
        fs::create_dir_all(at("other")).unwrap();
        for file in ["root/a/b/file", "other/file"] {
            fs::write(at(file), "12").unwrap();
        }
        let links = [
            ("", "root/a/all"),
            ("root", "root/a/b/root"),
            ("root/a/b", "root/a/b/self"),
            ("other", "root/other"),
            ("root/a", "other/back"),
            ("root/gone", "root/gone"),
        ];
        for (target, link) in links {
            symlink(at(target), at(link)).unwrap();
        }
        let shown: Vec<String> = list(&at("root"), Some(&at("root/a/left")))
            .unwrap()
            .iter()
            .map(|item| {
                let kind = match &item.kind {
                    Kind::Folder => "/".to_owned(),
                    Kind::File(len) => format!(" {len}"),
                    Kind::Circle => " circle".to_owned(),
                    Kind::Odd(_) => " odd".to_owned(),
                    Kind::Unreadable(error) => format!(" {error}"),
                };
                format!("{}{kind}", item.path.display())
            })
            .collect();
        let expected = [
            "a/",
            "a/all circle",
            "a/b/",
            "a/b/file 2",
            "a/b/root circle",
            "a/b/self circle",
            "gone odd",
            "other/",
            "other/back/",
            "other/back/all circle",
            "other/back/b/",
            "other/back/b/file 2",
            "other/back/b/root circle",
            "other/back/b/self circle",
            "other/file 2",
        ];
        assert_eq!(shown, expected);
    }
}
