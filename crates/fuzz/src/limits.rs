//! Limits what an input may cost: memory and time in proportion to its size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// An allocator that counts the bytes allocated, and their maximum at one time.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it is; counting
// does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the promises of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both exist while one is copied to the other.
        grow(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes and nanoseconds that an input may cost: for each of its bytes, and in any case.
pub struct Limits {
    pub bytes_per_byte: usize,
    pub bytes: usize,
    pub nanos_per_byte: u64,
    pub nanos: u64,
}

/// The processor time of this thread.
fn on_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// Runs `work` on an input of `len` bytes and fails if it costs too much.
pub fn within<T>(limits: &Limits, len: usize, mut work: impl FnMut() -> T) -> T {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = Instant::now();
    let result = work();
    let elapsed = start.elapsed();
    let peak = PEAK.load(Relaxed) - before;
    let allowed = limits.bytes_per_byte * len + limits.bytes;
    assert!(
        peak <= allowed,
        "{peak} bytes of memory for an input of {len} bytes; {allowed} are allowed"
    );
    let allowed = Duration::from_nanos(limits.nanos_per_byte * len as u64 + limits.nanos);
    // Other threads may have had the processor, so a slow run is repeated and measured precisely.
    if elapsed > allowed
        && let Some(before) = on_cpu()
    {
        drop(work());
        let used = on_cpu().unwrap_or_default().saturating_sub(before);
        assert!(
            used <= allowed,
            "{used:?} for an input of {len} bytes; {allowed:?} are allowed"
        );
    }
    result
}
