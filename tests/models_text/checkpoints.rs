//! Judges by their `config.json`: tiny random checkpoints against transformers (`tests/fixtures/judge/checkpoints.py`),
//! and what is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use groundedvqa::models::judge::{Checkpoint, NliJudge, Reading};
use groundedvqa::seams::{Judge as _, ModelError, Pair};
use safetensors::tensor::{Dtype, TensorView};
use serde::Deserialize;
use serde_json::Value;

use super::{LOGIT_TOLERANCE, distance, pair, read};

const NAMES: [&str; 3] = ["three-way", "two-way", "half"];

#[derive(Deserialize)]
struct Row {
    premise: String,
    hypothesis: String,
    tokens: usize,
    logits: Vec<f32>,
    probabilities: BTreeMap<String, f32>,
    wrong_order: BTreeMap<String, f32>,
    without_c2p: Vec<f32>,
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/judge").join(name)
}

fn reference(name: &str) -> (Vec<Pair>, Vec<Row>) {
    let rows: Vec<Row> = read(&format!("tests/fixtures/judge/{name}/reference.json"));
    (rows.iter().map(|row| pair(&row.premise, &row.hypothesis)).collect(), rows)
}

/// The largest difference of a logit from `wanted`.
fn worst(readings: &[Reading], rows: &[Row], wanted: fn(&Row) -> &[f32]) -> f32 {
    readings.iter().zip(rows).map(|(reading, row)| distance(&reading.logits, wanted(row))).fold(0.0, f32::max)
}

/// A copy of the checkpoint `name` with another `config.json`.
fn changed(name: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(folder(name).join(file), copy.path().join(file)).expect("copied");
    }
    let mut config: Value = read(&format!("tests/fixtures/judge/{name}/config.json"));
    change(&mut config);
    std::fs::write(copy.path().join("config.json"), config.to_string()).expect("written");
    copy
}

/// Rewrites the weights in `dir` without the tensors whose names hold `part`, and with one called `more`.
fn rewritten(dir: &Path, part: Option<&str>, more: Option<&str>) {
    let path = dir.join("model.safetensors");
    let bytes = std::fs::read(&path).expect("the weights");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("safetensors");
    let numbers = [0; 8];
    let extra = TensorView::new(Dtype::F32, vec![2], &numbers).expect("two zeros");
    let kept = tensors.iter().filter(|(name, _)| part.is_none_or(|part| !name.contains(part)));
    let kept: Vec<(&str, TensorView<'_>)> = kept.chain(more.map(|name| (name, extra))).collect();
    std::fs::write(&path, safetensors::serialize(kept, None).expect("serialises")).expect("written");
}

fn load(dir: &Path) -> NliJudge {
    NliJudge::load(dir).expect("loads")
}

fn refused(dir: &Path) -> String {
    match NliJudge::load(dir) {
        Err(error @ ModelError::Load { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("was not refused"),
    }
}

#[test]
fn checkpoints_agree_with_transformers_in_one_batch() {
    for name in NAMES {
        let (pairs, rows) = reference(name);
        let lengths: Vec<usize> = rows.iter().map(|row| row.tokens).collect();
        assert!(lengths.iter().any(|n| *n > 40) && lengths.iter().any(|n| *n < 10), "{name}: {lengths:?}");
        let off = worst(&load(&folder(name)).read(&pairs).expect("reads"), &rows, |row| &row.logits);
        assert!(off < LOGIT_TOLERANCE, "{name} is off by {off}");
    }
}

#[test]
fn a_missing_term_is_noticed_and_is_what_transformers_computes_without_it() {
    let (pairs, rows) = reference("three-way");
    let without = changed("three-way", |config| config["pos_att_type"] = "p2c".into());
    let readings = load(without.path()).read(&pairs).expect("reads");
    let off = worst(&readings, &rows, |row| &row.without_c2p);
    assert!(off < LOGIT_TOLERANCE, "one term alone is off by {off}");
    let off = worst(&readings, &rows, |row| &row.logits);
    assert!(off > 100.0 * LOGIT_TOLERANCE, "a missing term passes too: {off}");
    // Each of these is a mistake that one could make in the network.
    let mistakes: [(&str, &str, &str, fn(&mut Value)); 4] = [
        ("three-way", "no logarithm", "", |config| config["max_position_embeddings"] = 16.into()),
        ("three-way", "positions that are not normalised", "encoder.LayerNorm", |config| {
            config["norm_rel_ebd"] = "none".into();
        }),
        ("two-way", "shared position keys", ".pos_", |config| config["share_att_key"] = true.into()),
        ("two-way", "no absolute positions", "", |config| config["position_biased_input"] = false.into()),
    ];
    for (name, mistake, left, change) in mistakes {
        let copy = changed(name, change);
        if !left.is_empty() {
            let error = refused(copy.path());
            assert!(error.contains(left) && error.contains("do not belong together"), "{mistake}: {error}");
            rewritten(copy.path(), Some(left), None);
        }
        let (pairs, rows) = reference(name);
        // What a shorter network does not read is the same pair cut; only short ones are compared.
        let short = pairs.iter().zip(rows).filter(|(_, row)| row.tokens == 16).map(|(pair, row)| (pair.clone(), row));
        let (pairs, rows): (Vec<Pair>, Vec<Row>) = short.unzip();
        let readings = load(copy.path()).read(&pairs).expect("reads");
        let off = worst(&readings, &rows, |row| &row.logits);
        assert!(off > 10.0 * LOGIT_TOLERANCE, "{name}: {mistake} passes too: {off}");
    }
}

/// A checkpoint in two files and their index, and what is said if one of them is not the file.
#[test]
fn shards_are_read_like_one_file() {
    let (pairs, _) = reference("three-way");
    let whole = load(&folder("three-way")).read(&pairs).expect("reads");
    let copy = changed("three-way", |_| ());
    let single = copy.path().join("model.safetensors");
    let bytes = std::fs::read(&single).expect("the weights");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("safetensors");
    let (mut parts, mut map) = ([Vec::new(), Vec::new()], BTreeMap::new());
    let shard = |part: usize| format!("model-0000{}-of-00002.safetensors", part + 1);
    for (place, (name, tensor)) in tensors.iter().enumerate() {
        map.insert(name.to_owned(), shard(place % 2));
        parts[place % 2].push((name, tensor));
    }
    for (part, tensors) in parts.into_iter().enumerate() {
        assert!(!tensors.is_empty(), "{part}");
        let bytes = safetensors::serialize(tensors, None).expect("serialises");
        std::fs::write(copy.path().join(shard(part)), bytes).expect("written");
    }
    std::fs::remove_file(&single).expect("removed");
    let index = serde_json::json!({ "weight_map": map });
    std::fs::write(copy.path().join("model.safetensors.index.json"), index.to_string()).expect("written");
    assert_eq!(load(copy.path()).read(&pairs).expect("reads"), whole);

    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    std::fs::write(copy.path().join(shard(1)), pointer).expect("written");
    let error = refused(copy.path());
    assert!(error.contains(&shard(1)) && error.contains("git lfs pull"), "{error}");
    std::fs::remove_file(copy.path().join(shard(1))).expect("removed");
    let error = refused(copy.path());
    assert!(error.contains(&shard(1)) && error.contains("is missing"), "{error}");
}

#[test]
fn weights_of_a_larger_network_are_refused_and_old_heads_are_not() {
    let fewer = changed("three-way", |config| config["num_hidden_layers"] = 1.into());
    let error = refused(fewer.path());
    assert!(error.contains("deberta.encoder.layer.1.") && error.contains("do not belong together"), "{error}");
    assert!(!error.contains("models fetch"), "{error}");
    let (pairs, _) = reference("three-way");
    let due = load(&folder("three-way")).read(&pairs).expect("reads");
    for head in ["lm_predictions.lm_head.bias", "mask_predictions.dense.weight", "deberta.embeddings.position_ids"] {
        let copy = changed("three-way", |_| ());
        rewritten(copy.path(), None, Some(head));
        assert_eq!(load(copy.path()).read(&pairs).expect("reads"), due, "{head}");
    }
    let copy = changed("three-way", |_| ());
    rewritten(copy.path(), None, Some("classifier.out_proj.weight"));
    assert!(refused(copy.path()).contains("classifier.out_proj.weight"));
}

#[test]
fn a_command_tells_the_memory_that_a_model_needs_before_it_is_loaded() {
    let dir = tempfile::tempdir().expect("a folder");
    let models = dir.path().join("models");
    std::fs::create_dir_all(models.join("judge")).expect("made");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(folder("three-way").join(file), models.join("judge").join(file)).expect("copied");
    }
    let captions: Vec<String> = (0..30).map(|second| format!("A red car number {second} stands near a dog.")).collect();
    let video = serde_json::json!({"video": "one", "captions_1fps": captions});
    std::fs::write(dir.path().join("captions.jsonl"), format!("{video}\n")).expect("written");
    let measured = |models: &Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
        command.args(["eval", "text", "captions.jsonl", "--half", "both", "--models"]).arg(models);
        let output = command.current_dir(dir.path()).output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = measured(&models);
    assert_eq!(code, Some(0), "{err}");
    let line = err.lines().find(|line| line.starts_with("loading a model model=\"judge\" needed_mb="));
    assert!(line.is_some_and(|line| line.contains("available_mb=")), "{err}");
    assert!(!out.contains("loading"), "{out}");
    // Told before anything is read of it.
    std::fs::write(models.join("judge/model.safetensors"), b"nonsense").expect("written");
    let (code, _, err) = measured(&models);
    assert_eq!(code, Some(69), "{err}");
    assert!(err.find("loading a model") < err.find("not a safetensors file"), "{err}");
}

#[test]
fn probabilities_go_by_the_names_of_the_classes() {
    for name in NAMES {
        let (pairs, rows) = reference(name);
        let mut judge = load(&folder(name));
        let judged = judge.judge(&pairs).expect("judges");
        for (p, row) in judged.iter().zip(&rows) {
            let entailed = |odds: &BTreeMap<String, f32>| {
                let named = odds.iter().find(|(label, _)| ["entailment", "SUPPORTED"].contains(&label.as_str()));
                *named.expect("a class of entailment").1
            };
            assert!((p.entailment - entailed(&row.probabilities)).abs() < LOGIT_TOLERANCE, "{name}: {p:?}");
            assert!((p.entailment + p.neutral + p.contradiction - 1.0).abs() < 1e-5);
            assert_eq!(p.contradiction == 0.0, name == "two-way", "{p:?}");
            if name != "three-way" {
                let wrong = (p.entailment - entailed(&row.wrong_order)).abs();
                assert!(wrong > 100.0 * LOGIT_TOLERANCE, "{name}: another order of the classes passes too");
            }
        }
    }
}

#[test]
fn another_order_of_the_names_is_another_judge() {
    let (pairs, _) = reference("three-way");
    let swapped = changed("three-way", |config| {
        config["id2label"] = serde_json::json!({"0": "entailment", "1": "contradiction", "2": "neutral"});
        config.as_object_mut().expect("an object").remove("label2id");
    });
    let (mut right, mut wrong) = (load(&folder("three-way")), load(swapped.path()));
    let (a, b) = (right.judge(&pairs).expect("judges"), wrong.judge(&pairs).expect("judges"));
    assert!(a.iter().zip(&b).all(|(a, b)| a.entailment == b.contradiction && a.contradiction == b.entailment));
    let version =
        |judge: &NliJudge| judge.fingerprint().as_str().split_once('/').expect("name@weights/labels").1.to_owned();
    assert_eq!((version(&right), version(&wrong)), ("labels-cen-0.5".to_owned(), "labels-ecn-0.5".to_owned()));
    assert!(right.fingerprint().as_str().starts_with("three-way@"), "{}", right.fingerprint());
    let strict =
        NliJudge::checkpoint(&Checkpoint { dir: folder("two-way"), threshold: 0.8_f32.try_into().expect("valid") })
            .expect("loads");
    assert_eq!((strict.threshold(), version(&strict)), (0.8, "labels-re-0.8".to_owned()));
}

#[test]
fn a_checkpoint_that_cannot_be_read_says_why() {
    let cases: [(&str, fn(&mut Value)); 6] = [
        ("LABEL_0", |config| config["id2label"] = serde_json::json!({"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})),
        ("has no id2label", |config| config["id2label"] = Value::Null),
        ("disagree", |config| config["label2id"]["neutral"] = 0.into()),
        ("conv_kernel_size is 3", |config| config["conv_kernel_size"] = 3.into()),
        ("model_type is \"bert\"", |config| config["model_type"] = "bert".into()),
        // Two names on a head of three classes: the file of weights disagrees.
        ("classifier.weight", |config| {
            config["id2label"] = serde_json::json!({"0": "entailment", "1": "neutral"});
            config["label2id"] = Value::Null;
        }),
    ];
    for (said, change) in cases {
        let error = refused(changed("three-way", change).path());
        assert!(error.contains(said) && !error.contains("models fetch"), "{error:?} instead of {said:?}");
    }
    let copy = changed("three-way", |_| ());
    let bare = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,"pre_tokenizer":null,
        "post_processor":null,"decoder":null,"model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}}"#;
    std::fs::write(copy.path().join("tokenizer.json"), bare).expect("written");
    assert!(refused(copy.path()).contains("special tokens"));
    std::fs::remove_file(copy.path().join("tokenizer.json")).expect("there");
    std::fs::write(copy.path().join("spm.model"), b"").expect("written");
    assert!(refused(copy.path()).contains("spm.model alone"));
    let copy = changed("three-way", |config| config["vocab_size"] = 30.into());
    assert!(refused(copy.path()).contains("it knows 42 tokens, the network 30"));
}

#[test]
fn long_pairs_are_cut_and_odd_ones_are_read() {
    let judge = load(&folder("three-way"));
    let long = "the red car is near the van . ".repeat(300);
    let pairs = [pair(&long, &long), pair("", ""), pair("\u{0} 日本 🎥", "a dog .")];
    let readings = judge.read(&pairs).expect("reads");
    assert!(readings.iter().all(|reading| reading.logits.iter().all(|logit| logit.is_finite())));
    assert_eq!(judge.read(&[]).expect("reads"), []);
}
