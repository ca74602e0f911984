//! The data with which all phases of `hindsight generate` work.

use super::Opts;
use crate::classpath::ClassPath;
use crate::files::writable;
use crate::generate::carve::Access;
use crate::generate::complete::Wanted;
use crate::generate::guard::Guarded;
use crate::generate::platform::{Classes, Platform};
use crate::generate::sequence::Methods;
use crate::generate::worker::{PLACES, Setup, Worker};
use crate::jdk::Jdk;
use crate::model::mutable::Mutability;
use crate::progress::{Extent, Stages};
use crate::temporary;
use anyhow::{Context, Result};
use hindsight_instrument::glob::{Globs, globs};
use std::cell::RefCell;
use std::fs;

/// The most classes of a program that are loaded anew for each sequence that is tried.
const MAX_RELOADED: usize = 500;

/// The program, and how its code is run.
pub(super) struct Program {
    pub classpath: ClassPath,
    /// Its other version, as it is and rewritten to do no harm.
    pub against: Option<(ClassPath, Guarded)>,
    /// The classes whose tests are wanted.
    pub wanted: Globs,
    pub setup: Setup,
    mutability: Option<Mutability>,
    platform: Platform,
    /// The progress of the work.
    pub told: Stages,
    /// The number of its classes.
    count: usize,
    /// The directory of all that is temporary.
    _work: temporary::Directory,
}

/// The tools with which sequences are made and tried.
pub(super) struct Tools<'a> {
    pub program: &'a Program,
    pub classes: Classes<'a>,
    pub access: Access<'a>,
    pub wanted: Wanted<'a>,
    pub methods: Methods,
    pub worker: Worker,
    /// A second worker, in a JVM of its own and in another place.
    pub other: Worker,
}

impl Opts {
    /// Reads what is needed of the program, and rewrites it to do no harm.
    pub(super) fn prepare(&self) -> Result<Program> {
        let jdk = Jdk::find(self.jdk.as_deref())?;
        let classpath = ClassPath::open(&self.classpath)?;
        let next = self.against.as_deref();
        let next = next.map(|text| anyhow::Ok((text, ClassPath::open(text)?)));
        let next = next.transpose().context("--against")?;
        writable(&self.out)?;
        let mutability = self
            .mutability
            .as_deref()
            .map(Mutability::read)
            .transpose()?;
        let told = Stages::new(!self.quiet);
        told.begin("reading the program", Extent::Unknown);
        let work = temporary::directory()?;
        let dir = fs::canonicalize(work.path()).context("failed to make a temporary directory")?;
        let guarded = Guarded::new(
            &self.classpath,
            &classpath,
            jdk.version,
            self.searches(),
            &dir.join("guarded"),
        )?;
        let against = next.map(|(text, found)| {
            let dir = dir.join("guarded-against");
            let guarded = Guarded::new(text, &found, jdk.version, false, &dir)?;
            anyhow::Ok((found, guarded))
        });
        let against = against.transpose()?;
        let next = against.as_ref().map(|(_, guarded)| guarded);
        let setup = Setup {
            preview: guarded.preview || next.is_some_and(|next| next.preview),
            entries: guarded.entries,
            jdk,
            dir,
            limit: self.timeout,
            reset: self.reset_statics,
            recorded: None,
        };
        setup.prepare()?;
        Ok(Program {
            platform: Platform::new(&setup.jdk),
            classpath,
            against,
            wanted: globs(&self.classes),
            setup,
            mutability,
            told,
            count: guarded.count,
            _work: work,
        })
    }
}

impl Program {
    /// All that is needed to try sequences; no JVM runs yet.
    pub(super) fn tools(&self) -> Tools<'_> {
        let classes = Classes {
            own: &self.classpath,
            platform: &self.platform,
        };
        // What differs elsewhere is not asserted, nor what depends on static state that others have
        // left, if it does not take too long to load all classes again and again.
        let elsewhere = Setup {
            reset: self.setup.reset || self.count <= MAX_RELOADED,
            ..self.setup.clone()
        };
        Tools {
            program: self,
            classes,
            access: Access::new(classes),
            wanted: Wanted {
                classes: &self.wanted,
                mutability: self.mutability.as_ref(),
                harmful: RefCell::default(),
            },
            methods: Methods::default(),
            worker: Worker::new(self.setup.clone()),
            other: Worker::at(&PLACES[1], elsewhere),
        }
    }
}
