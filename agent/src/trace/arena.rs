//! Mapped memory that outlives the process: chunks in files, and words that Java and the agent
//! share.
//!
//! **Invariant:** all blocks of a file are allocated before it is mapped. A store to a page for
//! which the disk has no room would be a SIGBUS, which ends the JVM.
//!
//! **Invariant:** memory is never unmapped: a thread of the program may store into it until the
//! very end.

#![expect(unsafe_code, reason = "maps files, and reads what Java stores there")]

use hindsight_tracelog::trace::block::Header;
use hindsight_tracelog::trace::chunk::{self, Chunk, SIZES};
use hindsight_tracelog::trace::coverage;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The number of chunks in one file.
const CHUNKS: usize = 32;
/// The most files: enough for 80,000 threads at once.
const MAX_FILES: usize = 2600;
/// How long to wait before asking a full disk for room again: a thread without a chunk asks at each
/// event, and all others wait meanwhile.
const RETRY: Duration = Duration::from_millis(200);

/// The address of a chunk that belongs to its holder alone. It stays mapped forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address(usize);

struct Region {
    base: usize,
    chunk: usize,
    path: PathBuf,
}

#[derive(Default)]
struct State {
    regions: Vec<Region>,
    free: [Vec<Address>; 2],
    /// For each size, the last time when there was no room for more.
    failed: [Option<Instant>; 2],
}

/// All chunks of a recording.
pub(crate) struct Arena {
    directory: PathBuf,
    state: Mutex<State>,
}

impl Arena {
    /// Creates the first chunks.
    pub(crate) fn create(directory: &Path) -> io::Result<Arena> {
        let arena = Arena {
            directory: directory.to_owned(),
            state: Mutex::default(),
        };
        arena.grow(0)?;
        arena.grow(1)?;
        Ok(arena)
    }

    /// Takes a free chunk of a size, if there is one.
    pub(crate) fn take(&self, size: usize) -> Option<Address> {
        self.state.lock().ok()?.free.get_mut(size)?.pop()
    }

    /// Creates more chunks of a size.
    pub(crate) fn grow(&self, size: usize) -> io::Result<()> {
        let mut state = self.state.lock().map_err(|_| io::ErrorKind::Other)?;
        let number = state.regions.len();
        let chunk = *SIZES.get(size).ok_or(io::ErrorKind::InvalidInput)?;
        if number >= MAX_FILES {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        if state.failed[size].is_some_and(|failed| failed.elapsed() < RETRY) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let path = self.directory.join(format!("live-{number:04}.hsl"));
        let len = CHUNKS * chunk;
        let base = map(&path, len).inspect_err(|_| {
            // A partial file would only take the space that is missing.
            let _ = fs::remove_file(&path);
            state.failed[size] = Some(Instant::now());
        })?;
        for at in (0..CHUNKS).rev() {
            state.free[size].push(Address(base + at * chunk));
        }
        state.regions.push(Region { base, chunk, path });
        Ok(())
    }

    /// Gives back a chunk whose events are stored elsewhere.
    pub(crate) fn give_back(&self, chunk: Address) {
        let size = chunk.size();
        chunk.set_state(0);
        if let (Ok(mut state), Some(size)) = (
            self.state.lock(),
            SIZES.iter().position(|known| *known == size),
        ) {
            state.free[size].push(chunk);
        }
    }

    /// The chunks that are in use.
    pub(crate) fn in_use(&self) -> Vec<Address> {
        let Ok(state) = self.state.lock() else {
            return Vec::new();
        };
        let of_region = |region: &Region| {
            let (base, chunk) = (region.base, region.chunk);
            (0..CHUNKS).map(move |at| Address(base + at * chunk))
        };
        let all = state.regions.iter().flat_map(of_region);
        all.filter(|chunk| chunk.state().load(Ordering::Acquire) == 1)
            .collect()
    }

    /// Removes the files; the memory stays mapped.
    pub(crate) fn remove_files(&self) {
        if let Ok(state) = self.state.lock() {
            for region in &state.regions {
                let _ = fs::remove_file(&region.path);
            }
        }
    }
}

/// Creates a file whose `len` bytes are allocated, and maps it.
fn map(path: &Path, len: usize) -> io::Result<usize> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let size = libc::off_t::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: an open file.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    mmap(len, libc::MAP_SHARED, file.as_raw_fd())
}

fn mmap(len: usize, flags: i32, file: i32) -> io::Result<usize> {
    // SAFETY: a new mapping at a place that the kernel chooses.
    let memory = unsafe {
        libc::mmap(
            ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            file,
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(memory as usize)
}

impl Address {
    /// The chunk whose address Java gives back.
    ///
    /// # Safety
    ///
    /// The address must be one that Java got from [`Address::raw`].
    pub(crate) unsafe fn from_raw(raw: i64) -> Option<Address> {
        usize::try_from(raw)
            .ok()
            .filter(|raw| *raw != 0)
            .map(Address)
    }

    pub(crate) fn raw(self) -> i64 {
        self.0 as i64
    }

    fn atomic(self, offset: usize) -> &'static AtomicU32 {
        // SAFETY: within a chunk's header, aligned, and mapped for ever.
        unsafe { AtomicU32::from_ptr((self.0 + offset) as *mut u32) }
    }

    fn state(self) -> &'static AtomicU32 {
        self.atomic(chunk::STATE)
    }

    fn set_state(self, state: u32) {
        self.state().store(state, Ordering::Release);
    }

    fn size(self) -> usize {
        self.atomic(68).load(Ordering::Relaxed) as usize
    }

    /// Prepares a chunk for a thread's events.
    pub(crate) fn begin(self, of: &Header, size: usize) {
        let Some(&bytes) = SIZES.get(size) else {
            return;
        };
        let header = chunk::header(of, self.0 as u64, bytes);
        self.set_state(0);
        // SAFETY: the chunk is free, so nobody else writes to its header.
        unsafe {
            ptr::copy_nonoverlapping(header.as_ptr(), self.0 as *mut u8, header.len());
        }
        self.set_state(1);
    }

    /// The content of the chunk's header.
    pub(crate) fn read(self) -> Option<Chunk> {
        let mut header = [0; chunk::HEADER];
        // SAFETY: a chunk begins with as many bytes. Java may be storing `end`, a
        // single aligned word, meanwhile.
        unsafe {
            ptr::copy_nonoverlapping(self.0 as *const u8, header.as_mut_ptr(), header.len());
        }
        std::sync::atomic::fence(Ordering::Acquire);
        Chunk::read(&header)
    }

    /// The events that are complete.
    pub(crate) fn events(self, chunk: &Chunk) -> &'static [u8] {
        // SAFETY: `len` was checked against the chunk's size, and Java changes what is before the
        // end it has stored only before it gives a chunk back. `Packer` alone makes it free again:
        // the thread that has packed it does, and nobody once the trace has ended, when all are
        // read.
        unsafe { slice::from_raw_parts((self.0 + chunk::HEADER) as *const u8, chunk.len) }
    }

    /// Stores an event, as Java does.
    #[cfg(test)]
    pub(crate) fn store(self, event: &[u8]) {
        let chunk = self.read().expect("it was begun");
        let end = self.0 + chunk::HEADER + chunk.len;
        assert!(end + event.len() <= self.0 + chunk.size);
        // SAFETY: within the chunk, which is the caller's alone.
        unsafe {
            ptr::copy_nonoverlapping(event.as_ptr(), end as *mut u8, event.len());
            AtomicU64::from_ptr((self.0 + chunk::END) as *mut u64)
                .store((end + event.len()) as u64, Ordering::Release);
        }
    }
}

/// A byte for each basic block, in a file that grows; see `HindsightTrace.cover`.
pub(crate) struct Blocks {
    file: fs::File,
    path: PathBuf,
    base: usize,
    /// The number of bytes that are allocated, and the first number that is free.
    state: Mutex<(usize, u32)>,
}

/// The name of the file of basic blocks.
const BLOCKS: &str = "coverage.hsb";
/// The largest size of that file.
const MAX_BLOCKS: usize = 1 << 26;
/// The number of bytes by which it grows.
const BLOCKS_STEP: usize = 1 << 16;

impl Blocks {
    pub(crate) fn create(directory: &Path) -> io::Result<Blocks> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(directory.join(BLOCKS))?;
        io::Write::write_all(&mut file, &coverage::file_header())?;
        // This only reserves the addresses; each part is mapped when it is allocated.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let base = mmap(MAX_BLOCKS, flags, -1)?;
        Ok(Blocks {
            file,
            path: directory.join(BLOCKS),
            base,
            state: Mutex::new((0, 0)),
        })
    }

    /// The address of the byte of block 0.
    pub(crate) fn address(&self) -> i64 {
        (self.base + coverage::HEADER) as i64
    }

    /// Calls `work` with the first number that is free; it returns how many numbers it uses. `Err`
    /// if there is no room for them; the result of the work is then to be dropped.
    pub(crate) fn number<T>(&self, work: impl FnOnce(u32) -> (T, u32)) -> io::Result<T> {
        let mut state = self.state.lock().map_err(|_| io::ErrorKind::Other)?;
        let (mapped, first) = *state;
        let (done, count) = work(first);
        let next = first.checked_add(count).ok_or(io::ErrorKind::StorageFull)?;
        let needed = coverage::HEADER + next as usize;
        if needed > mapped {
            let more = needed.div_ceil(BLOCKS_STEP) * BLOCKS_STEP;
            self.map(mapped, more)?;
            state.0 = more;
        }
        state.1 = next;
        Ok(done)
    }

    /// Replaces the file by a copy of its present content, since threads that still run go on
    /// writing to the mapped one. Returns the checksum of the copy.
    pub(crate) fn freeze(&self) -> io::Result<u32> {
        let state = self.state.lock().map_err(|_| io::ErrorKind::Other)?;
        let mut bytes = vec![0; coverage::HEADER + state.1 as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        let aside = self.path.with_extension("hsb.part");
        let written = (|| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&aside)?;
            io::Write::write_all(&mut file, &bytes)?;
            fs::rename(&aside, &self.path)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&aside);
        }
        written?;
        Ok(coverage::checksum(&bytes[coverage::HEADER..]))
    }

    fn map(&self, from: usize, to: usize) -> io::Result<()> {
        if to > MAX_BLOCKS {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let (offset, len) = (from as libc::off_t, (to - from) as libc::off_t);
        // SAFETY: an open file.
        let error = unsafe { libc::posix_fallocate(self.file.as_raw_fd(), offset, len) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        // SAFETY: the addresses are this mapping's own, no byte of them is in use
        // yet, and steps are whole pages.
        let memory = unsafe {
            libc::mmap(
                (self.base + from) as *mut libc::c_void,
                to - from,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                self.file.as_raw_fd(),
                offset,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// A byte for each method that bounds the recording; see `HindsightWindow`.
pub(crate) struct Marks(usize);

impl Marks {
    const LEN: usize = 1 << 26;
    pub(crate) const FROM: u8 = 1;
    pub(crate) const UNTIL: u8 = 2;
    pub(crate) const TOP: u8 = 4;
    pub(crate) const CONSTRUCTOR: u8 = 8;

    pub(crate) fn create() -> io::Result<Marks> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        mmap(Self::LEN, flags, -1).map(Marks)
    }

    pub(crate) fn address(&self) -> i64 {
        self.0 as i64
    }

    /// Marks a method whose code has not run yet; returns `false` if its number is too large.
    pub(crate) fn set(&self, method: u32, marks: u8) -> bool {
        let at = method as usize;
        if at < Self::LEN {
            // SAFETY: within the mapping, which is never unmapped.
            let byte = unsafe { AtomicU8::from_ptr((self.0 + at) as *mut u8) };
            byte.store(marks, Ordering::Relaxed);
        }
        at < Self::LEN
    }
}

/// Counters that Java uses, too; see `HindsightStream`.
pub(crate) struct Shared {
    base: usize,
    bits: usize,
}

impl Shared {
    const STAMP: usize = 0;
    const LOST: usize = 8;
    const SERIAL: usize = 64;
    const CLASSES: usize = 72;
    const STREAM: usize = 80;
    const NUMBERS: usize = 96;
    const STACK_ENDS: usize = 104;
    const UNNUMBERED: usize = 120;
    /// The number of bytes of `HindsightNumbers.extras`.
    const BITS: usize = 1 << 17;

    pub(crate) fn create() -> io::Result<Shared> {
        let base = mmap(4096, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)?;
        let bits = mmap(Self::BITS, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)?;
        let shared = Shared { base, bits };
        // Number 1 stands for objects that could not get a number.
        shared.word(Self::SERIAL).store(16, Ordering::Relaxed);
        shared.word(Self::CLASSES).store(1, Ordering::Relaxed);
        shared.word(Self::NUMBERS).store(2, Ordering::Relaxed);
        Ok(shared)
    }

    pub(crate) fn address(&self) -> i64 {
        self.base as i64
    }

    /// The address of the bits of `HindsightNumbers`.
    pub(crate) fn bits(&self) -> i64 {
        self.bits as i64
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: within the page, aligned, and mapped for ever.
        unsafe { AtomicU64::from_ptr((self.base + offset) as *mut u64) }
    }

    pub(crate) fn lost(&self) -> u64 {
        self.word(Self::LOST).load(Ordering::Relaxed)
    }

    /// A new stamp.
    pub(crate) fn next_stamp(&self) -> u64 {
        self.word(Self::STAMP).fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The number of stack overflows among the recorded exceptions.
    pub(crate) fn stack_ends(&self) -> u64 {
        self.word(Self::STACK_ENDS).load(Ordering::Relaxed)
    }

    /// How often events refer to objects that could not get a number.
    pub(crate) fn unnumbered(&self) -> u64 {
        self.word(Self::UNNUMBERED).load(Ordering::Relaxed)
    }

    pub(crate) fn streams(&self) -> u64 {
        self.word(Self::STREAM).load(Ordering::Relaxed)
    }
}

/// The present time, in nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_asked_now_and_then() {
        let name = format!("hindsight-arena-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let arena = Arena::create(&directory).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        let not_found = arena.grow(0).unwrap_err().kind();
        assert_eq!(not_found, io::ErrorKind::NotFound);
        fs::create_dir_all(&directory).unwrap();
        let full = arena.grow(0).unwrap_err().kind();
        assert_eq!(full, io::ErrorKind::StorageFull);
        arena.grow(1).unwrap();
        std::thread::sleep(RETRY);
        arena.grow(0).unwrap();
        let _ = fs::remove_dir_all(&directory);
    }
}
