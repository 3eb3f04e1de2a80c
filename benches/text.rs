//! Sentences a second through the embedder and pairs a second through the judge, from text to result.
//!
//! `cargo bench --bench text` prints one line of JSON a case. Beside onnxruntime, in turns, it is measured by
//! `benches/reference_text.py`, which starts this program with `--serve`: for each line on standard input, a JSON
//! object `{"pairs": [[premise, hypothesis], …]}` or `{"texts": [text, …]}`, it runs that batch once and answers with
//! the milliseconds it took.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use groundedvqa::models::embedder::MiniLm;
use groundedvqa::models::judge::NliJudge;
use groundedvqa::seams::{Embedder as _, Judge as _, Pair};
use serde::Deserialize;

const ROUNDS: usize = 20;
/// About 26 tokens together, the length of a caption's sentence and a claim.
const PREMISE: &str = "There are about seven people, a car and a van or truck.";
const CLAIM: &str = "There are five people near the white van.";

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Batch {
    Pairs(Vec<(String, String)>),
    Texts(Vec<String>),
}

struct Models {
    embedder: MiniLm,
    judge: NliJudge,
}

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = std::env::var_os("GVQA_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let embedder = MiniLm::load(&dir.join("embedder"))?;
    let mut models = Models { embedder, judge: NliJudge::load(&dir.join("judge"))? };
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [] => measure(&mut models),
        [serve] if serve == "--serve" => models.serve(),
        other => bail!("{other:?} is not known: give nothing or --serve"),
    }
}

fn measure(models: &mut Models) -> anyhow::Result<()> {
    let pairs = Batch::Pairs(vec![(PREMISE.to_owned(), CLAIM.to_owned()); 16]);
    let texts = |n| Batch::Texts(vec![PREMISE.to_owned(); n]);
    for (case, items, batch) in [("judge", 16, pairs), ("embed", 32, texts(32)), ("embed", 1, texts(1))] {
        models.run(&batch)?;
        let mut times = (0..ROUNDS).map(|_| models.run(&batch)).collect::<anyhow::Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        let per_second = items as f64 / median * 1e3;
        println!("{}", serde_json::json!({ "case": case, "batch": items, "ms": median, "per_second": per_second }));
    }
    Ok(())
}

impl Models {
    /// Runs the batch once; milliseconds.
    fn run(&mut self, batch: &Batch) -> anyhow::Result<f64> {
        match batch {
            Batch::Pairs(pairs) => {
                let pair = |(premise, hypothesis): &(String, String)| Pair {
                    premise: premise.clone(),
                    hypothesis: hypothesis.clone(),
                };
                let pairs: Vec<Pair> = pairs.iter().map(pair).collect();
                let start = Instant::now();
                self.judge.judge(&pairs)?;
                Ok(start.elapsed().as_secs_f64() * 1e3)
            }
            Batch::Texts(texts) => {
                let start = Instant::now();
                self.embedder.embed(texts)?;
                Ok(start.elapsed().as_secs_f64() * 1e3)
            }
        }
    }

    fn serve(&mut self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "ready")?;
        for line in std::io::stdin().lock().lines() {
            let elapsed = self.run(&serde_json::from_str(&line?)?)?;
            writeln!(out, "{elapsed}")?;
        }
        Ok(())
    }
}
