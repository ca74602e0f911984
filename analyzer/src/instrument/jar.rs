//! Rewrites an archive: jar, war, ear, jmod, or any other zip.

use super::batch::{Content, Input, Job, MAX_CLASS, MAX_WEIGHT, deflate, inflate};
use super::manifest::{Signature, is_manifest, signature, without_digests};
use super::plan::Left;
use super::run::Run;
use super::target::Output;
use crate::archive::read::{Directory, Source};
use crate::archive::write::Writer;
use crate::archive::{DEFLATED, Entry, Error, STORED};
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use tempfile::SpooledTempFile;

/// The most archives within each other. People have two or three; one that contains itself has no
/// end.
const MAX_DEPTH: usize = 16;

/// The bytes of the largest manifest.
const MAX_MANIFEST: u64 = 16 << 20;

/// The number of entries that are handled at a time.
const MAX_ITEMS: usize = 4096;

/// The ends of the names of nested archives.
const ARCHIVES: [&str; 12] = [
    ".jar", ".war", ".ear", ".zip", ".rar", ".jmod", ".hpi", ".jpi", ".aar", ".nbm", ".sar", ".kar",
];

/// An archive whose structure was found to be sound.
pub struct Opened {
    directory: Directory,
    /// The indices of the entries, in the order of their data.
    order: Vec<usize>,
}

/// Reads an archive's directory, of at most `max` bytes, and all local headers.
///
/// # Errors
///
/// Fails if anything is wrong, and names it.
pub fn open(source: &mut Source<'_>, path: &str, max: u64) -> Result<Opened> {
    let failed = || format!("failed to read {path}");
    let directory = Directory::read_up_to(source, max).with_context(failed)?;
    let order = directory.by_offset().with_context(failed)?;
    for &place in &order {
        let entry = &directory.entries[place];
        entry
            .locate(source)
            .with_context(|| format!("failed to read {path}!/{}", entry.text()))?;
    }
    Ok(Opened { directory, order })
}

/// Whether a name is that of an archive.
pub fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ARCHIVES.iter().any(|kind| name.ends_with(kind))
}

/// Whether an entry makes the archive a module: at its start, for a release, or in a `jmod`.
fn is_description(name: &str) -> bool {
    let folder = name.strip_suffix("module-info.class");
    folder.is_some_and(|folder| {
        let release = folder.strip_prefix("META-INF/versions/");
        let is_release = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        folder.is_empty()
            || folder == "classes/"
            || release
                .and_then(|text| text.strip_suffix('/'))
                .is_some_and(is_release)
    })
}

/// An entry that is being processed.
struct Item {
    entry: Entry,
    place: usize,
    data: u64,
    local_extra: Vec<u8>,
    /// The index of its job, for a class.
    job: Option<usize>,
}

/// Entries that are processed together.
#[derive(Default)]
struct Batch {
    items: Vec<Item>,
    jobs: Vec<Job>,
    weight: u64,
}

/// An archive that is being written.
struct Making<'s, 'f, 'w> {
    source: &'s mut Source<'f>,
    writer: Writer<'w>,
    /// The new entries by index; `None` for those that are left out.
    entries: Vec<Option<Entry>>,
    changed: bool,
}

impl Run<'_> {
    /// Rewrites an archive into `out`. Returns whether anything changed; if not, the output is of
    /// no use.
    pub(super) fn archive(
        &mut self,
        source: &mut Source<'_>,
        opened: &Opened,
        path: &str,
        depth: usize,
        out: &mut dyn Write,
    ) -> Result<bool, Error> {
        let Opened { directory, order } = opened;
        // This is what precedes the first entry.
        let first = order.first().map(|&place| directory.entries[place].offset);
        let mut making = Making {
            source,
            writer: Writer::new(out, directory.base),
            entries: vec![None; directory.entries.len()],
            changed: false,
        };
        if self.orders.writing {
            let prefix = first.unwrap_or(directory.offset);
            making.source.copy(0, prefix, &mut making.writer)?;
        }

        let (mut signed, mut is_module) = (false, false);
        let mut batch = Batch::default();
        for &place in order {
            let entry = directory.entries[place].clone();
            let name = entry.text();
            if let Some(kind) = signature(&name) {
                signed |= kind == Signature::File;
                continue;
            }
            is_module |= is_description(&name);
            let (data, local_extra) = entry.locate(making.source)?;
            let mut item = Item {
                entry,
                place,
                data,
                local_extra,
                job: None,
            };
            let full = batch.items.len() >= MAX_ITEMS || batch.weight > MAX_WEIGHT;
            if full || is_archive(&name) || is_manifest(&name) {
                self.flush(&mut making, &mut batch, depth)?;
            }
            if is_manifest(&name) {
                self.manifest(&mut making, item)?;
            } else if is_archive(&name) {
                self.nested(&mut making, item, &format!("{path}!/{name}"), depth)?;
            } else {
                if name.ends_with(".class") {
                    let job = class(making.source, &item, format!("{path}!/{name}"))?;
                    batch.weight += job.weight();
                    item.job = Some(batch.jobs.len());
                    batch.jobs.push(job);
                }
                batch.items.push(item);
            }
        }
        self.flush(&mut making, &mut batch, depth)?;

        let Making {
            writer,
            entries,
            changed,
            ..
        } = making;
        if changed {
            self.tally.archives_rewritten += 1;
            if signed {
                self.tally.signatures_removed.push(path.to_owned());
            }
            // An archive within another one is not in a module path.
            if is_module && depth == 0 {
                self.tally.modules_rewritten.push(path.to_owned());
            }
            if self.orders.writing {
                let entries = entries.iter().flatten();
                writer.finish(entries, directory.comment_len, &directory.tail)?;
            }
        } else {
            self.tally.archives_left += 1;
        }
        Ok(changed)
    }

    /// Rewrites the classes of a batch and writes its entries in their order.
    fn flush(
        &mut self,
        making: &mut Making<'_, '_, '_>,
        batch: &mut Batch,
        depth: usize,
    ) -> Result<(), Error> {
        let Batch {
            items, mut jobs, ..
        } = std::mem::take(batch);
        if depth == 0 {
            let packed = items.iter().map(|item| item.entry.packed).sum();
            self.progress.add(packed);
        }
        self.rewrite(&mut jobs)?;
        for item in items {
            let done = item.job.and_then(|job| jobs[job].done.take());
            if done.as_ref().is_some_and(|done| done.is_rewritten()) {
                making.changed = true;
            }
            if self.orders.writing {
                match done.and_then(|done| done.content) {
                    Some(content) => making.put(item, &content)?,
                    None => making.copy(item)?,
                }
            }
        }
        Ok(())
    }

    /// Copies a manifest without the digests of entries. If nothing changes, the archive stays as
    /// it was, with them.
    fn manifest(&mut self, making: &mut Making<'_, '_, '_>, item: Item) -> Result<(), Error> {
        if !self.orders.writing {
            return Ok(());
        }
        let Entry {
            method,
            size,
            packed,
            ..
        } = item.entry;
        let readable = !item.entry.is_encrypted() && size.max(packed) <= MAX_MANIFEST;
        let mut stripped = None;
        if readable {
            let bytes = making.source.bytes(item.data, packed)?;
            let manifest = match method {
                STORED => Some(bytes),
                DEFLATED => inflate(&bytes, size),
                _ => None,
            };
            stripped = manifest.and_then(|manifest| without_digests(&manifest));
        }
        match stripped {
            Some(manifest) => {
                let content = Content {
                    size: manifest.len() as u64,
                    crc: crc32fast::hash(&manifest),
                    bytes: match method {
                        DEFLATED => deflate(&manifest),
                        _ => manifest,
                    },
                };
                making.put(item, &content)
            }
            None => making.copy(item),
        }
    }

    /// Rewrites an archive within an archive.
    fn nested(
        &mut self,
        making: &mut Making<'_, '_, '_>,
        item: Item,
        path: &str,
        depth: usize,
    ) -> Result<(), Error> {
        let rewritten = match self.unnest(making.source, &item, path, depth)? {
            Ok(rewritten) => rewritten,
            Err((reason, detail)) => {
                self.tally.archives_left += 1;
                self.tally.fail(path, reason.to_owned(), detail);
                None
            }
        };
        if depth == 0 {
            self.progress.add(item.entry.packed);
        }
        making.changed |= rewritten.is_some();
        if !self.orders.writing {
            return Ok(());
        }
        let Some(mut rewritten) = rewritten else {
            return making.copy(item);
        };
        let mut item = item;
        (item.entry.size, item.entry.crc) = measure(&mut rewritten)?;
        if item.entry.method == DEFLATED {
            let mut packed =
                DeflateEncoder::new(BufWriter::new(self.scratch_file()), Compression::default());
            io::copy(&mut rewritten, &mut packed)?;
            rewritten = packed.finish()?.into_inner().map_err(|e| e.into_error())?;
        }
        item.entry.packed = rewritten.seek(io::SeekFrom::End(0))?;
        rewritten.rewind()?;
        making.start(&mut item)?;
        io::copy(&mut rewritten, &mut making.writer)?;
        making.end(item)
    }

    /// The new content of a nested archive, if it changes, or the reason why it cannot be
    /// rewritten.
    #[expect(
        clippy::type_complexity,
        reason = "one error stops the run, the other only leaves this archive as it is"
    )]
    fn unnest(
        &mut self,
        source: &mut Source<'_>,
        item: &Item,
        path: &str,
        depth: usize,
    ) -> Result<Result<Option<Output<SpooledTempFile>>, (&'static str, Option<String>)>, Error>
    {
        let entry = &item.entry;
        if entry.is_encrypted() {
            return Ok(Err(("encrypted", None)));
        }
        if depth >= MAX_DEPTH {
            return Ok(Err(("nested too deeply", None)));
        }
        let mut unpacked;
        let mut part = match entry.method {
            STORED => source.part(item.data, entry.packed)?,
            DEFLATED if entry.size > self.unpackable => {
                return Ok(Err(("unpacks to too much", None)));
            }
            DEFLATED => {
                self.unpackable -= entry.size;
                let packed = source.reader(item.data, entry.packed)?;
                unpacked = self.scratch_file();
                if !unpack(packed, entry, &mut unpacked)? {
                    return Ok(Err(("cannot be unpacked", None)));
                }
                Source::new(&mut unpacked)?
            }
            method => return Ok(Err(("unknown packing", Some(format!("method {method}"))))),
        };
        let opened = match open(&mut part, path, self.nested_directory) {
            Ok(opened) => opened,
            Err(error) => {
                let cause = error.root_cause().to_string();
                let detail = error
                    .chain()
                    .map(ToString::to_string)
                    .find_map(|text| Some(text.strip_prefix("failed to read ")?.to_owned()));
                let detail = detail.filter(|place| place != path);
                return Ok(Err((
                    "malformed",
                    Some(match detail {
                        Some(place) => format!("{place}: {cause}"),
                        None => cause,
                    }),
                )));
            }
        };
        let mut out = BufWriter::new(self.scratch_file());
        let changed = self.archive(&mut part, &opened, path, depth + 1, &mut out)?;
        let out = out.into_inner().map_err(|error| error.into_error())?;
        Ok(Ok(changed.then_some(out)))
    }
}

impl Making<'_, '_, '_> {
    fn start(&mut self, item: &mut Item) -> Result<(), Error> {
        Ok(self.writer.start(&mut item.entry, &item.local_extra)?)
    }

    fn end(&mut self, item: Item) -> Result<(), Error> {
        self.writer.end_data(&item.entry)?;
        self.entries[item.place] = Some(item.entry);
        Ok(())
    }

    /// Writes an entry as it was.
    fn copy(&mut self, mut item: Item) -> Result<(), Error> {
        self.start(&mut item)?;
        self.source
            .copy(item.data, item.entry.packed, &mut self.writer)?;
        self.end(item)
    }

    /// Writes an entry with another content.
    fn put(&mut self, mut item: Item, content: &Content) -> Result<(), Error> {
        item.entry.size = content.size;
        item.entry.packed = content.bytes.len() as u64;
        item.entry.crc = content.crc;
        self.start(&mut item)?;
        self.writer.write_all(&content.bytes)?;
        self.end(item)
    }
}

/// A class of an archive, packed.
fn class(source: &mut Source<'_>, item: &Item, path: String) -> Result<Job, Error> {
    let entry = &item.entry;
    let unreadable = if entry.is_encrypted() {
        Some(Left::Encrypted)
    } else if !matches!(entry.method, STORED | DEFLATED) {
        Some(Left::Method(entry.method))
    } else if entry.size.max(entry.packed) > MAX_CLASS {
        Some(Left::TooLarge)
    } else {
        None
    };
    let input = match unreadable {
        Some(reason) => Input::Unreadable(reason),
        None => Input::Packed {
            bytes: source.bytes(item.data, entry.packed)?,
            method: entry.method,
            size: entry.size,
            crc: entry.crc,
        },
    };
    Ok(Job::new(path, input))
}

/// Unpacks into a file. Returns whether the content is as the entry says.
fn unpack(packed: impl Read, entry: &Entry, out: &mut impl Write) -> Result<bool, Error> {
    let mut decoder = DeflateDecoder::new(BufReader::new(packed)).take(entry.size + 1);
    let mut crc = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        let len = match decoder.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        crc.update(&buffer[..len]);
        out.write_all(&buffer[..len])?;
        size += len as u64;
    }
    Ok(size == entry.size && crc.finalize() == entry.crc)
}

/// The length and CRC-32 of a file, which is left at its start.
fn measure(file: &mut (impl Read + Seek)) -> Result<(u64, u32), Error> {
    file.rewind()?;
    let mut crc = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        let len = file.read(&mut buffer)?;
        if len == 0 {
            break;
        }
        crc.update(&buffer[..len]);
        size += len as u64;
    }
    file.rewind()?;
    Ok((size, crc.finalize()))
}
