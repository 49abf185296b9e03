//! Reads vectors with hudi-rs: `cargo run -- VECTORS`.
//!
//! Prints how many reads agree, and the known differences by name. The exit code is 1 if another read differs.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use hudi::config::read_options::{QueryType, ReadOptions};
use hudi::table::Table;
use serde_json::Value;

const ENGINE: &str = "hudi-rs 0.5.0";
const KINDS: [&str; 3] = ["snapshot", "as_of", "incremental"];

/// A row of an answer: key, ordering, value, requested.
type Row = (String, i64, Option<String>, String);
type Counts = BTreeMap<String, usize>;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = fs::canonicalize(env::args().nth(1).ok_or("name the folder of vectors")?)?;
    let mut vectors: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Box<dyn Error>>>()?;
    vectors.retain(|vector| vector.join("meta.json").exists());
    vectors.sort();
    let mut counts = Counts::new();
    for vector in &vectors {
        compare(vector, &mut counts).await?;
    }
    for (name, count) in &counts {
        println!("{count:6} {name}");
    }
    Ok(ExitCode::from(counts.contains_key("UNKNOWN") as u8))
}

/// Compares every read of a vector that hudi-rs has, and counts the outcomes.
async fn compare(vector: &Path, counts: &mut Counts) -> Result<(), Box<dyn Error>> {
    let mut count = |name: String| *counts.entry(name).or_default() += 1;
    if let Some(reason) = json(&vector.join("meta.json"))?["not_compared"][ENGINE].as_str() {
        count(format!("not compared: {reason}"));
        return Ok(());
    }
    let table = Table::new(vector.join("table").to_str().ok_or("a path is not UTF-8")?).await?;
    for read in json(&vector.join("expected/reads.json"))?.as_array().ok_or("reads.json is not a list")? {
        let kind = text(&read["kind"]);
        if !KINDS.contains(&kind.as_str()) || read.get("refused").is_some() {
            count("not compared: no such read, or one that must be refused".into());
            continue;
        }
        let known = read["differs"][ENGINE].as_str();
        let expected = expected(read);
        let answer = answer(&table, read).await.map_err(|error| error.to_string());
        match (answer.as_ref() == Ok(&expected), known) {
            (true, None) => count("agree".into()),
            (true, Some(rule)) => count(format!("agree, though known: {rule}")),
            (false, Some(rule)) => count(format!("known: {rule}")),
            (false, None) => {
                count("UNKNOWN".into());
                let window = format!("({}, {}]", read["after"], read["until"]);
                println!("{}: {kind} {window}: {answer:?} instead of {expected:?}", vector.display());
            }
        }
    }
    Ok(())
}

/// The right rows of a read, sorted.
fn expected(read: &Value) -> Vec<Row> {
    let rows = read["rows"].as_array().into_iter().flatten();
    let mut rows: Vec<Row> = rows
        .map(|row| {
            let ordering = row["ordering"].as_i64().expect("an ordering value");
            (text(&row["key"]), ordering, row["value"].as_str().map(String::from), text(&row["requested"]))
        })
        .collect();
    rows.sort();
    rows
}

/// The rows of hudi-rs, sorted.
async fn answer(table: &Table, read: &Value) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut options = ReadOptions::new();
    if read["kind"] == "incremental" {
        options = options.with_query_type(QueryType::Incremental).with_end_timestamp(text(&read["until"]));
        if let Some(after) = read["after"].as_str() {
            options = options.with_start_timestamp(after);
        }
    } else if let Some(until) = read["until"].as_str() {
        options = options.with_as_of_timestamp(until);
    }
    let mut rows = Vec::new();
    for batch in table.read(&options).await? {
        rows.extend(rows_of(&batch)?);
    }
    rows.sort();
    Ok(rows)
}

/// The rows of a batch.
fn rows_of(batch: &RecordBatch) -> Result<Vec<Row>, Box<dyn Error>> {
    let column = |name: &str, of: DataType| -> Result<_, Box<dyn Error>> {
        Ok(cast(batch.column_by_name(name).ok_or(format!("no column {name}"))?, &of)?)
    };
    let [ids, values, times] = [
        column("id", DataType::Utf8)?,
        column("value", DataType::Utf8)?,
        column("_hoodie_commit_time", DataType::Utf8)?,
    ];
    let orderings = column("ts", DataType::Int64)?;
    let at = |row: usize| -> Row {
        let value = values.is_valid(row).then(|| values.as_string::<i32>().value(row).into());
        let [id, time] = [&ids, &times].map(|column| column.as_string::<i32>().value(row).into());
        (id, orderings.as_primitive::<Int64Type>().value(row), value, time)
    };
    Ok((0..batch.num_rows()).map(at).collect())
}

fn json(path: &Path) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}
