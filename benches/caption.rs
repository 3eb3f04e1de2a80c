//! Milliseconds a scene caption takes, from RGB pixels to sentences.
//!
//! `cargo bench --bench caption` measures the fixture frames and prints one line of JSON. Beside onnxruntime, in turns
//! and on full-size frames, it is measured by `benches/reference_caption.py`, which starts this program with
//! `--serve FRAMES`: for each line on standard input it captions every picture of that safetensors file once and
//! answers with the wall milliseconds of each and the CPU milliseconds of all.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use groundedvqa::domain::Picture;
use groundedvqa::models::captioner::SceneDescriber;
use groundedvqa::seams::Captioner as _;
use safetensors::SafeTensors;

const ROUNDS: usize = 20;

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("GVQA_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let mut describer = SceneDescriber::load(&models.join("captioner"))?;
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    match arguments.next().as_deref() {
        None => measure(&mut describer, &pictures(&root.join("tests/fixtures/captioner/frames.safetensors"))?),
        Some("--serve") => serve(&mut describer, &pictures(Path::new(&arguments.next().context("which frames?")?))?),
        Some(other) => bail!("{other} is not known: give nothing or --serve FRAMES"),
    }
}

fn pictures(path: &Path) -> anyhow::Result<Vec<Picture>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let tensors = SafeTensors::deserialize(&bytes)?;
    let mut names = tensors.names();
    names.sort_unstable();
    let picture = |name: &str| {
        let tensor = tensors.tensor(name)?;
        let [rows, columns, 3] = tensor.shape() else { bail!("{name} has the shape {:?}", tensor.shape()) };
        Ok(Picture::new(*columns as u32, *rows as u32, tensor.data())?)
    };
    names.into_iter().map(picture).collect()
}

/// One round over all pictures, in milliseconds a picture.
fn round(describer: &mut SceneDescriber, pictures: &[Picture]) -> anyhow::Result<Vec<f64>> {
    let time = |picture: &Picture| {
        let start = Instant::now();
        describer.caption(std::slice::from_ref(picture))?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    pictures.iter().map(time).collect()
}

fn measure(describer: &mut SceneDescriber, pictures: &[Picture]) -> anyhow::Result<()> {
    round(describer, pictures)?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.extend(round(describer, pictures)?);
    }
    times.sort_by(f64::total_cmp);
    println!("{}", serde_json::json!({"what": "caption", "median_ms": times[times.len() / 2], "min_ms": times[0]}));
    Ok(())
}

fn serve(describer: &mut SceneDescriber, pictures: &[Picture]) -> anyhow::Result<()> {
    for line in std::io::stdin().lock().lines() {
        line?;
        let before = cpu_ms()?;
        let walls = round(describer, pictures)?;
        println!("{}", serde_json::json!({"wall_ms": walls, "cpu_ms": cpu_ms()? - before}));
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// CPU time of this process so far, all threads, to the 10 ms that Linux counts in.
fn cpu_ms() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The second field is the name in parentheses; user and system ticks are the 14th and 15th.
    let (_, after) = stat.rsplit_once(") ").context("no name in /proc/self/stat")?;
    let fields = after.split(' ').skip(11).take(2);
    fields.map(|ticks| Ok(10.0 * ticks.parse::<f64>()?)).sum()
}
