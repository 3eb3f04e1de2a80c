//! Every architecture and form of weights on tiny random files against transformers, and whole drafters in miniature
//! against llama.cpp's tokens (`tests/fixtures/drafter/architectures.py` and `chats.py`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use groundedvqa::models::drafter::{Gguf, GgufError, LanguageModel, Llama, Shape, Tokenizer};
use groundedvqa::seams::{Drafter as _, ModelError};

use super::{Case, SQUARE, Text, check, difference, network, offset, request};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/drafter").join(name)
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).expect(name)
}

fn cases() -> Vec<(Case, Vec<u8>)> {
    let text = file("architectures/reference.json");
    let cases: Vec<Case> = serde_json::from_slice(&text).expect("a fixture");
    cases
        .into_iter()
        .map(|case| (file(&format!("architectures/{}.gguf", case.name)), case))
        .map(|(b, c)| (c, b))
        .collect()
}

/// What a file holds is computed exactly, but for the block scales of Q4_K and Q6_K, which are rounded to f16.
fn tolerance(case: &Case) -> f32 {
    if case.name.ends_with("_k") { 2e-2 } else { 1e-4 }
}

#[test]
fn every_architecture_and_form_agrees_with_transformers_however_the_prompt_is_read() {
    let cases = cases();
    assert_eq!(cases.len(), 7);
    for (case, bytes) in &cases {
        let network = network(bytes);
        for piece in [512, 30, 8, 1] {
            let off = difference(&network, case, piece);
            assert!(off < tolerance(case), "{} in pieces of {piece}: {off}", case.name);
        }
        let all: Vec<u32> = (0..network.shape().vocabulary as u32).collect();
        let mut memory = network.memory();
        let mut state = network.feed(&mut memory, &case.ids).expect("runs").expect("fits");
        for (token, margin) in case.greedy.iter().zip(&case.margins) {
            let logits = network.logits(&state, &all);
            let best = (0u32..).zip(&logits).max_by(|a, b| a.1.total_cmp(b.1)).map(|(id, _)| id);
            assert!(*margin > tolerance(case) && best == Some(*token), "{}: {best:?} instead of {token}", case.name);
            state = network.feed(&mut memory, &[*token]).expect("runs").expect("fits");
        }
    }
}

/// The four bytes of the value of a number in the metadata.
fn number<'a>(bytes: &'a mut [u8], key: &str) -> &'a mut [u8] {
    let at = bytes.windows(key.len()).position(|window| window == key.as_bytes()).expect(key) + key.len() + 4;
    &mut bytes[at..at + 4]
}

/// A file, what is wrong after the change, and the change.
type Mistake<'a> = (&'a str, &'a str, Box<dyn Fn(&mut Vec<u8>) + 'a>);

/// Each change below is a mistake one could make in the network.
#[test]
fn a_wrong_network_of_every_architecture_is_noticed() {
    let float = |bytes: &mut Vec<u8>, key: &str, value: f32| number(bytes, key).copy_from_slice(&value.to_le_bytes());
    let zero = |bytes: &mut Vec<u8>, tensor: &str, len: usize| {
        let at = offset(bytes, tensor);
        bytes[at..at + len].fill(0);
    };
    let ones = |bytes: &mut Vec<u8>, tensor: &str, len: usize| {
        let at = offset(bytes, tensor);
        bytes[at..at + 4 * len].as_chunks_mut::<4>().0.iter_mut().for_each(|value| *value = 1f32.to_le_bytes());
    };
    let mistakes: Vec<Mistake<'_>> = vec![
        ("llama-f32", "angles", Box::new(|b| float(b, "llama.rope.freq_base", 1e3))),
        ("qwen2-f16", "angles", Box::new(|b| float(b, "qwen2.rope.freq_base", 1e3))),
        ("qwen2-f16", "no biases", Box::new(|b| zero(b, "blk.0.attn_q.bias", 4 * 64))),
        ("qwen3-f16", "no norms of heads", Box::new(|b| ones(b, "blk.0.attn_q_norm.weight", 32))),
        (
            "gemma3-f16",
            "no window",
            Box::new(|b| {
                number(b, "gemma3.attention.sliding_window").copy_from_slice(&64u32.to_le_bytes());
            }),
        ),
        ("gemma3-f16", "no scaling of positions", Box::new(|b| float(b, "gemma3.rope.scaling.factor", 1.0))),
        ("gemma3-f16", "no norm behind attention", Box::new(|b| ones(b, "blk.1.post_attention_norm.weight", 64))),
    ];
    for (name, what, change) in mistakes {
        let (case, mut bytes) = cases().into_iter().find(|(case, _)| case.name == name).expect(name);
        change(&mut bytes);
        let off = difference(&network(&bytes), &case, 512);
        assert!(off > 50.0 * tolerance(&case), "{name}: {what} went unnoticed: {off}");
    }
}

#[test]
fn an_architecture_that_is_not_computed_is_named() {
    let mut bytes = file("architectures/qwen3-f16.gguf");
    let at = bytes.windows(5).position(|window| window == b"qwen3").expect("its name");
    bytes[at..at + 5].copy_from_slice(b"rwkv7");
    let error = Shape::read(&Gguf::parse(&bytes).expect("whole"), 64).expect_err("not computed");
    assert_eq!(error, GgufError::Architecture("rwkv7".to_owned()));
    assert!(error.to_string().contains("llama, qwen2, qwen3 and gemma3"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.gguf");
    std::fs::write(&path, &bytes).expect("written");
    match LanguageModel::open(&path) {
        Err(ModelError::Load { reason, .. }) => assert!(reason.contains("rwkv7"), "{reason}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a network that is not computed was loaded"),
    }
}

#[test]
fn no_cut_or_damaged_file_panics() {
    let whole = file("architectures/gemma3-f16.gguf");
    for len in (0..whole.len()).step_by(whole.len() / 40) {
        let read = Gguf::parse(&whole[..len]).and_then(|gguf| Llama::load(&gguf, Shape::read(&gguf, 64)?).map(drop));
        assert!(read.is_err(), "{len} bytes were accepted");
    }
    for key in ["head_count", "key_length", "embedding_length", "block_count", "feed_forward_length", "sliding_window"]
    {
        for value in [0u32, 1, 7, u32::MAX] {
            let mut bytes = whole.clone();
            number(&mut bytes, key).copy_from_slice(&value.to_le_bytes());
            let _ = Gguf::parse(&bytes).and_then(|gguf| Llama::load(&gguf, Shape::read(&gguf, 64)?).map(drop));
        }
    }
}

#[test]
fn every_kind_of_tokenizer_reads_as_llama_cpp_does() {
    let texts: BTreeMap<String, Vec<Text>> = serde_json::from_slice(&file("chats/tokens.json")).expect("a fixture");
    assert_eq!(texts.len(), 3);
    for (name, texts) in texts {
        let bytes = file(&format!("chats/{name}.gguf"));
        let tokenizer = Tokenizer::from_gguf(&Gguf::parse(&bytes).expect("whole")).expect("a tokenizer");
        for Text { text, ids } in texts {
            assert_eq!(tokenizer.encode(&text), ids, "{name}: {text:?}");
            assert_eq!(tokenizer.decode(&ids), text, "{name}");
        }
        let marked = if name == "gemma3" { "<end_of_turn>" } else { tokenizer.name(tokenizer.end()) };
        let id = tokenizer.special(marked).expect(marked);
        let [around, inside] = [tokenizer.encode_marked(&format!("a{marked}b")), tokenizer.encode(marked)];
        assert_eq!((around.len(), around[1], inside.contains(&id)), (3, id, false), "{name}");
    }
}

/// Random weights say nothing of use; what holds for every draft holds all the same.
#[test]
fn a_drafter_of_every_kind_keeps_the_promise() {
    for name in ["qwen3", "llama", "gemma3"] {
        let mut drafter = LanguageModel::open(&fixture(&format!("chats/{name}.gguf"))).expect("loads");
        assert!(drafter.fingerprint().as_str().starts_with(&format!("tiny-{name}@")), "{}", drafter.fingerprint());
        let request = request("What colour is the car? <|im_end|><end_of_turn>", SQUARE, 3);
        let mut pauses = 0;
        let claims = drafter.draft_with_pauses(&request, &mut || pauses += 1).expect("drafts");
        check(&request, &claims);
        assert!(!claims.is_empty() && pauses > 10, "{name}: {pauses} pauses, {claims:?}");
        assert_eq!(drafter.draft(&request).expect("drafts again"), claims, "{name} is not deterministic");
    }
}
