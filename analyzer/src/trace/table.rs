//! A Parquet file that grows row by row, in bounded memory.

use crate::temporary::Doomed;
use anyhow::{Context, Result, bail};
use parquet::basic::{Compression, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The number of rows in a row group, to begin with. The footer of the file describes each group,
/// and is kept in memory until the end; so the groups of large tables become larger.
const GROUP: usize = 1 << 16;

/// The number of groups after which the size of the next ones doubles.
const GROUPS: usize = 256;

/// The largest number of rows in a group.
const MAX_GROUP: usize = 1 << 18;

/// A value of a row. `None` is null.
#[derive(Debug, Clone)]
pub enum Cell {
    /// A Parquet `int64`.
    Long(Option<i64>),
    /// A Parquet `int32`.
    Int(Option<i32>),
    /// A Parquet `double`.
    Double(Option<f64>),
    /// A Parquet `boolean`.
    Bool(bool),
    /// A Parquet `binary (STRING)`; cloning does not copy the text.
    Text(Option<ByteArray>),
}

enum Values {
    Long(Vec<i64>),
    Int(Vec<i32>),
    Double(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
}

struct Column {
    /// The values; a null has none.
    values: Values,
    /// The definition level of each row, 0 for null; `None` if the column has no nulls.
    levels: Option<Vec<i16>>,
}

/// A file that is deleted unless it is kept: without its footer it cannot be read.
struct Begun {
    path: PathBuf,
    is_kept: bool,
    _doomed: Doomed,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if !self.is_kept {
            // If it cannot be deleted, an unreadable file remains, and an error has been reported
            // already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A table. Its file is deleted unless it is [kept](Table::keep).
pub struct Table {
    begun: Begun,
    writer: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
    /// The number of rows of the current group when it is full.
    group: usize,
    /// The number of groups of that size so far.
    groups: usize,
    total: u64,
}

impl Table {
    /// Creates a file with the columns in `schema`, a Parquet message type. The file must not exist
    /// yet.
    pub fn create(path: PathBuf, schema: &str, metadata: &[(&str, String)]) -> Result<Table> {
        let context = || format!("failed to write {}", path.display());
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(
                "{} exists: nothing is written over, choose another directory",
                path.display()
            ),
            file => file.with_context(context)?,
        };
        let begun = Begun {
            path: path.clone(),
            is_kept: false,
            _doomed: Doomed::new(&path),
        };
        let schema = Arc::new(parse_message_type(schema).with_context(context)?);
        let columns = schema
            .get_fields()
            .iter()
            .map(|field| {
                Ok(Column {
                    values: match field.get_physical_type() {
                        Physical::INT64 => Values::Long(Vec::new()),
                        Physical::INT32 => Values::Int(Vec::new()),
                        Physical::DOUBLE => Values::Double(Vec::new()),
                        Physical::BOOLEAN => Values::Bool(Vec::new()),
                        Physical::BYTE_ARRAY => Values::Text(Vec::new()),
                        other => bail!("no column has type {other}"),
                    },
                    levels: field.is_optional().then(Vec::new),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let pairs = metadata
            .iter()
            .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_created_by(format!("hindsight {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(pairs.collect()))
            // Statistics of pages would be kept in memory until the end.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties));
        Ok(Table {
            writer: writer.with_context(context)?,
            columns,
            rows: 0,
            group: GROUP,
            groups: 0,
            total: 0,
            begun,
        })
    }

    /// Adds a row, with a cell for each column in their order.
    pub fn add(&mut self, row: impl IntoIterator<Item = Cell>) -> Result<()> {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            let Some(cell) = row.next() else {
                bail!("a row has too few cells");
            };
            column.add(cell)?;
        }
        if row.next().is_some() {
            bail!("a row has too many cells");
        }
        self.rows += 1;
        self.total += 1;
        if self.rows == self.group {
            self.flush()?;
            self.groups += 1;
            if self.groups == GROUPS && self.group < MAX_GROUP {
                (self.group, self.groups) = (2 * self.group, 0);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let context = || format!("failed to write {}", self.begun.path.display());
        let mut group = self.writer.next_row_group().with_context(context)?;
        for column in &mut self.columns {
            let writer = group.next_column().with_context(context)?;
            let Some(mut writer) = writer else {
                bail!("a column is missing");
            };
            let levels = column.levels.as_deref();
            match &column.values {
                Values::Long(of) => writer.typed::<Int64Type>().write_batch(of, levels, None),
                Values::Int(of) => writer.typed::<Int32Type>().write_batch(of, levels, None),
                Values::Double(of) => writer.typed::<DoubleType>().write_batch(of, levels, None),
                Values::Bool(of) => writer.typed::<BoolType>().write_batch(of, levels, None),
                Values::Text(of) => writer
                    .typed::<ByteArrayType>()
                    .write_batch(of, levels, None),
            }
            .with_context(context)?;
            writer.close().with_context(context)?;
            column.clear();
        }
        group.close().with_context(context)?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the remaining rows and the footer. Returns the number of rows.
    pub fn finish(&mut self) -> Result<u64> {
        self.flush()?;
        let context = || format!("failed to write {}", self.begun.path.display());
        self.writer.finish().with_context(context)?;
        Ok(self.total)
    }

    /// Keeps the file.
    pub fn keep(&mut self) {
        self.begun.is_kept = true;
    }
}

impl Column {
    fn add(&mut self, cell: Cell) -> Result<()> {
        fn push<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
            let is_there = value.is_some();
            values.extend(value);
            is_there
        }
        let is_there = match (&mut self.values, cell) {
            (Values::Long(values), Cell::Long(value)) => push(values, value),
            (Values::Int(values), Cell::Int(value)) => push(values, value),
            (Values::Double(values), Cell::Double(value)) => push(values, value),
            (Values::Bool(values), Cell::Bool(value)) => push(values, Some(value)),
            (Values::Text(values), Cell::Text(value)) => push(values, value),
            (_, cell) => bail!("{cell:?} is in the wrong column"),
        };
        match &mut self.levels {
            Some(levels) => levels.push(i16::from(is_there)),
            None if !is_there => bail!("a value is missing"),
            None => {}
        }
        Ok(())
    }

    fn clear(&mut self) {
        match &mut self.values {
            Values::Long(values) => values.clear(),
            Values::Int(values) => values.clear(),
            Values::Double(values) => values.clear(),
            Values::Bool(values) => values.clear(),
            Values::Text(values) => values.clear(),
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
    }
}
