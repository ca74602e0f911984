//! The JDK's image of its modules, `lib/modules`.
//!
//! The file has a header, a perfect hash table of locations (which is not needed to list them all),
//! a run of attributes for each resource, names, and the resources themselves. Numbers of the
//! header and the tables have the byte order of the machine that linked the image; those in
//! attributes are big-endian.
//!
//! **Invariant:** what the file claims is checked against its length before anything is allocated
//! for it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const MAGIC: u32 = 0xcafe_dada;
const HEADER: usize = 28;
/// The largest index in bytes; that of a JDK has some 2 MB.
const MAX_INDEX: u64 = 256 << 20;
/// The largest class file in bytes.
const MAX_RESOURCE: u64 = 64 << 20;

/// Why an image cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The image breaks the format.
    #[error("{what} (at offset {offset:#x})")]
    Corrupt {
        /// What is wrong.
        what: &'static str,
        /// The offset from the start of the image.
        offset: u64,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// An open image.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    file: Mutex<File>,
    index: Vec<u8>,
    little: bool,
    table: usize,
    locations: (usize, usize),
    strings: (usize, usize),
    len: u64,
}

/// A resource of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The name of the module: `java.base`.
    pub module: String,
    /// The name without the module: `java/lang/Object.class`.
    pub name: String,
    offset: u64,
    packed: u64,
    size: u64,
}

fn corrupt(what: &'static str, offset: usize) -> Error {
    Error::Corrupt {
        what,
        offset: offset as u64,
    }
}

impl Image {
    /// Opens an image and reads its index.
    ///
    /// # Errors
    ///
    /// Fails if it is not an image; the error says where it breaks the format.
    pub fn open(path: &Path) -> Result<Image, Error> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let mut head = [0; HEADER];
        file.read_exact(&mut head)
            .map_err(|_| corrupt("too short for an image of modules", 0))?;
        let little = match [head[0], head[1], head[2], head[3]] {
            magic if u32::from_le_bytes(magic) == MAGIC => true,
            magic if u32::from_be_bytes(magic) == MAGIC => false,
            _ => return Err(corrupt("not an image of modules", 0)),
        };
        let half = |at: usize| match little {
            true => u16::from_le_bytes([head[at], head[at + 1]]),
            false => u16::from_be_bytes([head[at], head[at + 1]]),
        };
        // The version is one number, with the major version in its upper half.
        let major = half(if little { 6 } else { 4 });
        if major != 1 {
            return Err(corrupt("an image of an unknown version", 4));
        }
        let word = |at| u64::from(word(&head, at, little));
        let (table, locations, strings) = (word(16), word(20), word(24));
        let total = HEADER as u64 + 8 * table + locations + strings;
        if total > len.min(MAX_INDEX) {
            return Err(corrupt("the index is longer than the image", 16));
        }
        let mut index = vec![0; total as usize];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut index)?;
        let (table, locations) = (table as usize, locations as usize);
        let at = HEADER + 8 * table;
        Ok(Image {
            path: path.to_owned(),
            file: Mutex::new(file),
            little,
            table,
            locations: (at, at + locations),
            strings: (at + locations, index.len()),
            index,
            len,
        })
    }

    /// The path of the image.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of the index: names, locations and sizes of all resources, which distinguish
    /// builds of a JDK.
    pub fn index(&self) -> &[u8] {
        &self.index
    }

    /// All resources, in the order of their data.
    ///
    /// # Errors
    ///
    /// Fails if one breaks the format.
    pub fn resources(&self) -> Result<Vec<Resource>, Error> {
        let mut found = Vec::new();
        for entry in 0..self.table {
            let at = HEADER + 4 * self.table + 4 * entry;
            let location = word(&self.index, at, self.little) as usize;
            if let Some(resource) = self.resource(location)? {
                found.push(resource);
            }
        }
        found.sort_by_key(|resource| resource.offset);
        found.dedup();
        Ok(found)
    }

    /// Reads the attributes at `location`: pairs of kind and number.
    fn resource(&self, location: usize) -> Result<Option<Resource>, Error> {
        let (start, end) = self.locations;
        let mut at = start + location;
        let mut attributes = [0u64; 8];
        loop {
            let bad = || corrupt("attributes of a resource end too early", at);
            let &head = self.index[..end].get(at).ok_or_else(bad)?;
            let kind = usize::from(head >> 3);
            if kind == 0 {
                break;
            }
            let len = usize::from(head & 7) + 1;
            let bytes = self.index[..end].get(at + 1..at + 1 + len);
            let number = bytes
                .ok_or_else(bad)?
                .iter()
                .fold(0, |n, &b| n << 8 | u64::from(b));
            *attributes.get_mut(kind).ok_or_else(bad)? = number;
            at += 1 + len;
        }
        let [_, module, parent, base, extension, offset, packed, size] = attributes;
        let module = self.string(module)?;
        // Locations of packages and modules, for programs that list them, are not resources.
        if module.is_empty() || module == "modules" || module == "packages" {
            return Ok(None);
        }
        let (parent, base) = (self.string(parent)?, self.string(base)?);
        let extension = self.string(extension)?;
        let mut name = String::with_capacity(parent.len() + base.len() + 8);
        if !parent.is_empty() {
            name.push_str(&parent);
            name.push('/');
        }
        name.push_str(&base);
        if !extension.is_empty() {
            name.push('.');
            name.push_str(&extension);
        }
        Ok(Some(Resource {
            module,
            name,
            offset,
            packed,
            size,
        }))
    }

    fn string(&self, offset: u64) -> Result<String, Error> {
        let (start, end) = self.strings;
        let at = usize::try_from(offset)
            .ok()
            .and_then(|at| at.checked_add(start));
        let bytes = at.and_then(|at| self.index[..end].get(at..));
        let bytes = bytes.ok_or_else(|| corrupt("a name lies outside of the index", start))?;
        let len = bytes.iter().position(|&byte| byte == 0);
        let len = len.ok_or_else(|| corrupt("a name has no end", start))?;
        Ok(String::from_utf8_lossy(&bytes[..len]).into_owned())
    }

    /// The content of a resource.
    ///
    /// # Errors
    ///
    /// Fails if it lies outside of the image, or is compressed with another of the methods of
    /// `jlink --compress` than zip.
    pub fn read(&self, resource: &Resource) -> Result<Vec<u8>, Error> {
        let stored = match resource.packed {
            0 => resource.size,
            packed => packed,
        };
        let start = self.index.len() as u64 + resource.offset;
        let fits = start.checked_add(stored).is_some_and(|end| end <= self.len);
        if !fits || stored > MAX_RESOURCE || resource.size > MAX_RESOURCE {
            let what = "a resource lies outside of the image";
            return Err(Error::Corrupt {
                what,
                offset: start,
            });
        }
        let mut bytes = vec![0; stored as usize];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes)?;
        }
        match resource.packed {
            0 => Ok(bytes),
            _ => self.unpack(&bytes, resource.size, start),
        }
    }

    /// Decompresses a resource. A compressed resource begins with a header: magic number, the
    /// length of what follows, the length of the content, the compressor's name, its settings, and
    /// whether it is the last one.
    fn unpack(&self, bytes: &[u8], size: u64, at: u64) -> Result<Vec<u8>, Error> {
        const PACKED: u32 = 0xcafe_fafa;
        const PACKED_HEADER: usize = 29;
        let bad = |what| Error::Corrupt { what, offset: at };
        if bytes.len() < PACKED_HEADER || word(bytes, 0, self.little) != PACKED {
            return Err(bad("a packed resource has no header"));
        }
        let packer = self.string(u64::from(word(bytes, 20, self.little)))?;
        if packer != "zip" || bytes[PACKED_HEADER - 1] != 1 {
            return Err(bad("a resource is packed by other means than zip"));
        }
        let mut out = Vec::new();
        flate2::read::ZlibDecoder::new(&bytes[PACKED_HEADER..])
            .take(size + 1)
            .read_to_end(&mut out)
            .map_err(|_| bad("a packed resource does not unpack"))?;
        if out.len() as u64 == size {
            Ok(out)
        } else {
            Err(bad("a packed resource has another length"))
        }
    }
}

/// The word at an offset that is known to be within the bytes.
fn word(bytes: &[u8], at: usize, little: bool) -> u32 {
    let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    match little {
        true => u32::from_le_bytes(word),
        false => u32::from_be_bytes(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// An image of one resource, `/m/a/B.class`, with the given numbers.
    fn image(content: &[u8], packed: u64, size: u64, lie: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
        let strings = b"\0m\0a\0B\0class\0zip\0";
        let mut locations = vec![0u8];
        for (kind, number) in [
            (1, 1),
            (2, 3),
            (3, 5),
            (4, 7),
            (5, 0),
            (6, packed),
            (7, size),
        ] {
            locations.push(kind << 3 | 7);
            locations.extend(u64::to_be_bytes(number));
        }
        locations.push(0);
        let mut bytes = Vec::new();
        for word in [
            MAGIC,
            0x1_0000,
            0,
            1,
            1,
            locations.len() as u32,
            strings.len() as u32,
            0,
            1,
        ] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(&locations);
        bytes.extend(strings);
        bytes.extend(content);
        lie(&mut bytes);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(String, Vec<u8>), Error> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let image = Image::open(file.path())?;
        let resources = image.resources()?;
        let resource = resources.first().ok_or_else(|| corrupt("none", 0))?;
        Ok((
            format!("{}:{}", resource.module, resource.name),
            image.read(resource)?,
        ))
    }

    #[test]
    fn plain_and_packed() {
        let (name, bytes) = read(&image(b"class", 0, 5, |_| ())).unwrap();
        assert_eq!(
            (name.as_str(), bytes.as_slice()),
            ("m:a/B.class", &b"class"[..])
        );

        let mut packed = Vec::new();
        packed.extend(0xcafe_fafau32.to_le_bytes());
        packed.extend([0; 16]);
        packed.extend(13u32.to_le_bytes());
        packed.extend([0; 4]);
        packed.push(1);
        let mut zlib = flate2::write::ZlibEncoder::new(packed, flate2::Compression::best());
        zlib.write_all(&[7; 1000]).unwrap();
        let packed = zlib.finish().unwrap();
        let (_, bytes) = read(&image(&packed, packed.len() as u64, 1000, |_| ())).unwrap();
        assert_eq!(bytes, [7; 1000]);
        assert!(read(&image(&packed, packed.len() as u64, 999, |_| ())).is_err());
    }

    #[test]
    fn lies_are_errors() {
        let error = read(&image(b"class", 0, 6, |_| ()))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("a resource lies outside of the image"),
            "{error}"
        );
        for at in 0..image(b"class", 0, 5, |_| ()).len() {
            for value in [0, 1, 0x7f, 0xff] {
                // The result is an error or other content, but no panic and no gigabytes.
                let _ = read(&image(b"class", 0, 5, |bytes| bytes[at] = value));
            }
            let _ = read(&image(b"class", 0, 5, |bytes| bytes.truncate(at)));
        }
    }
}
