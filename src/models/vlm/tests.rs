//! Whole folders through the seams: what is answered, what is shared, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device};
use serde_json::Value;

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vlm").join(name)
}

fn config() -> Config {
    Config { folder: PathBuf::new(), max_pixels: 4096, caption_tokens: 12, answer_tokens: 12 }
}

fn loaded(folder: &Path) -> Result<Loaded, ModelError> {
    load(folder, &config(), &Device::Cpu, DType::F32)
}

/// The two pictures of a fixture, and what it was asked about the first and said.
fn asked(name: &str) -> ([Picture; 2], String, String) {
    let io = candle_core::safetensors::load(fixture(name).join("io.safetensors"), &Device::Cpu).expect("the fixture");
    let picture = |key: &str| {
        let (height, width, _) = io[key].dims3().expect("a picture");
        let bytes: Vec<u8> = io[key].flatten_all().and_then(|t| t.to_vec1()).expect("bytes");
        Picture::new(width as u32, height as u32, bytes).expect("fits")
    };
    let meta: Value = serde_json::from_slice(&fs::read(fixture(name).join("meta.json")).expect("there")).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let said = tell::sentences(&text(&meta["text"]), true);
    ([picture("picture_a"), picture("picture_b")], text(&meta["questions"][0]), said)
}

fn inquiry(picture: &Picture, question: &str) -> Inquiry {
    Inquiry { picture: picture.clone(), question: question.to_owned() }
}

#[test]
fn a_question_is_answered_as_the_reference_does() {
    for name in ["qwen3-tied", "qwen3-untied", "smolvlm"] {
        let ([first, second], question, said) = asked(name);
        let mut model = loaded(&fixture(name)).expect(name).visual_qa.expect("it answers");
        let alone = model.ask(&[inquiry(&first, &question)]).expect("answers");
        assert_eq!(alone, [&*said], "{name}");
        // Behind the remembered picture, together with another question, and together with another picture.
        let more = [inquiry(&first, &question), inquiry(&first, "Is there a car?")];
        let both = model.ask(&more).expect("answers");
        assert_eq!(both[0], said, "{name}");
        assert_ne!(both[1], said, "{name}: the question makes no difference");
        let other = model.ask(&[inquiry(&second, &question)]).expect("answers");
        assert_ne!(other[0], said, "{name}: the picture makes no difference");
        let mut fresh = loaded(&fixture(name)).expect(name).visual_qa.expect("it answers");
        let together = fresh.ask(&[inquiry(&second, &question), inquiry(&first, &question)]).expect("answers");
        assert_eq!(together, [&*other[0], &*said], "{name}");
        assert!(model.ask(&[]).expect("nothing to do").is_empty());
    }
}

#[test]
fn captions_do_not_depend_on_their_batch_or_on_questions() {
    for name in ["qwen3-tied", "smolvlm"] {
        let (pictures, question, _) = asked(name);
        let Loaded { mut captioner, visual_qa } = loaded(&fixture(name)).expect(name);
        let together = captioner.caption(&pictures).expect("captions");
        let mut qa = visual_qa.expect("it answers");
        qa.ask(&[inquiry(&pictures[1], &question)]).expect("answers");
        for (picture, caption) in pictures.iter().zip(&together) {
            let alone = captioner.caption(std::slice::from_ref(picture)).expect("captions");
            assert_eq!(alone, std::slice::from_ref(caption), "{name}");
            assert!(caption.as_str().ends_with(['.', '!', '?']), "{name}: {caption:?}");
        }
        assert_ne!(together[0], together[1], "{name}: the picture makes no difference");
        assert_eq!(captioner.fingerprint(), qa.fingerprint());
        assert!(captioner.fingerprint().as_str().contains('@'), "{:?}", captioner.fingerprint());
        assert!(captioner.vocabulary().is_none());
        assert!(captioner.caption(&[]).expect("nothing to do").is_empty());
    }
}

#[test]
fn blip_captions_and_answers_nothing() {
    let io = candle_core::safetensors::load(fixture("blip").join("io.safetensors"), &Device::Cpu).expect("the fixture");
    let (height, width, _) = io["picture_a"].dims3().expect("a picture");
    let bytes: Vec<u8> = io["picture_a"].flatten_all().and_then(|t| t.to_vec1()).expect("bytes");
    let picture = Picture::new(width as u32, height as u32, bytes).expect("fits");
    let mut model = loaded(&fixture("blip")).expect("loads");
    assert!(model.visual_qa.is_none());
    let said = model.captioner.caption(&[picture.clone(), picture]).expect("captions");
    assert!(said[0].as_str().starts_with("Word84 word216 word78") && said[0] == said[1], "{said:?}");
}

/// A copy of a fixture, to be damaged.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(fixture(name)).expect("the fixture") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "json") || path.to_string_lossy().contains("model") {
            fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("copied");
        }
    }
    folder
}

fn refusal(folder: &Path) -> String {
    match loaded(folder) {
        Err(error @ ModelError::Load { .. }) => error.to_string(),
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[test]
fn what_is_wrong_with_a_folder_is_said_by_file() {
    type Damage = fn(&Path);
    let write = |name: &'static str, text: &'static str| {
        move |folder: &Path| fs::write(folder.join(name), text).expect("written")
    };
    let remove: fn(&'static str) -> Box<dyn Fn(&Path)> =
        |name| Box::new(move |folder| fs::remove_file(folder.join(name)).expect("removed"));
    let other_tokenizer: Damage = |folder| {
        fs::copy(fixture("smolvlm").join("tokenizer.json"), folder.join("tokenizer.json")).expect("copied");
    };
    let other_shape: Damage = |folder| {
        let text = fs::read_to_string(folder.join("config.json")).expect("there");
        fs::write(folder.join("config.json"), text.replace("\"vocab_size\": 512", "\"vocab_size\": 513"))
            .expect("written");
    };
    let table: Vec<(Box<dyn Fn(&Path)>, &str)> = vec![
        (remove("config.json"), "config.json"),
        (remove("tokenizer.json"), "tokenizer.json"),
        (remove("model.safetensors"), "model.safetensors"),
        (Box::new(write("config.json", "{\"model_type\": \"llava\"}")), "llava"),
        (Box::new(write("config.json", "{")), "config.json"),
        (Box::new(write("tokenizer.json", "{}")), "tokenizer.json"),
        (Box::new(write("preprocessor_config.json", "[1]")), "preprocessor_config.json"),
        (Box::new(write("preprocessor_config.json", "{\"image_std\": [0.5, 0, 0.5]}")), "image_std must be three"),
        (Box::new(write("config.json", "version https://git-lfs.github.com/spec/v1\n")), "git lfs pull"),
        (Box::new(write("generation_config.json", "nonsense")), "generation_config.json"),
        (Box::new(write("chat_template.jinja", "{{ '<image>' }}")), "never shows a picture as <|image_pad|>"),
        (Box::new(other_tokenizer), "no token <|image_pad|>"),
        (Box::new(other_shape), "embed_tokens"),
    ];
    for (damage, named) in table {
        let folder = copy("qwen3-tied");
        damage(folder.path());
        let error = refusal(folder.path());
        assert!(error.contains(named), "{named}: {error}");
        // A file that is there and wrong stays wrong however often it is fetched.
        let is_gone = ["config.json", "tokenizer.json", "model.safetensors"]
            .iter()
            .any(|file| !folder.path().join(file).exists());
        assert!(!error.contains("models fetch") && error.contains("models list --profile gpu") == is_gone, "{error}");
    }
    assert!(loaded(copy("qwen3-tied").path()).is_ok(), "an undamaged copy");
}

/// Writes tensors of zeros into the weights of `folder`.
fn add(folder: &Path, names: &[(&str, &[usize])]) {
    let path = folder.join("model.safetensors");
    let mut tensors = candle_core::safetensors::load(&path, &Device::Cpu).expect("the weights");
    for (name, dims) in names {
        let zeros = candle_core::Tensor::zeros(*dims, DType::F32, &Device::Cpu).expect("zeros");
        tensors.insert((*name).to_owned(), zeros);
    }
    candle_core::safetensors::save(&tensors, &path).expect("written");
}

#[test]
fn weights_of_a_larger_network_are_refused() {
    for (name, section, key, left) in [
        ("qwen3-tied", "text_config", "num_hidden_layers", "model.language_model.layers.2."),
        ("qwen3-tied", "vision_config", "deepstack_visual_indexes", "model.visual.deepstack_merger_list.1."),
        ("smolvlm", "text_config", "num_hidden_layers", "model.text_model.layers.2."),
        ("smolvlm", "vision_config", "num_hidden_layers", "model.vision_model.encoder.layers.2."),
        ("blip", "text_config", "num_hidden_layers", "text_decoder.bert.encoder.layer.1."),
        ("blip", "vision_config", "num_hidden_layers", "vision_model.encoder.layers.1."),
    ] {
        let folder = copy(name);
        let path = folder.path().join("config.json");
        let mut json: Value = serde_json::from_slice(&fs::read(&path).expect("there")).expect("JSON");
        match &mut json[section][key] {
            Value::Array(blocks) => drop(blocks.pop().expect("one")),
            number => *number = (number.as_u64().expect(key) - 1).into(),
        }
        fs::write(&path, json.to_string()).expect("written");
        let error = refusal(folder.path());
        assert!(error.contains(left) && error.contains("do not belong together"), "{name} {section}: {error}");
    }
    // A quantised model beside its scales, and a decoder that was taught to answer a text encoder.
    for (name, tensor) in [
        ("qwen3-tied", "model.language_model.layers.0.mlp.up_proj.weight_scale_inv"),
        ("blip", "text_encoder.embeddings.word_embeddings.weight"),
    ] {
        let folder = copy(name);
        add(folder.path(), &[(tensor, &[2])]);
        assert!(refusal(folder.path()).contains(tensor), "{name}");
    }
}

#[test]
fn tensors_that_no_version_reads_are_left_alone() {
    let frequencies = "model.language_model.rotary_emb.inv_freq";
    for (name, extras) in [
        ("qwen3-tied", vec![("lm_head.weight", &[512, 32][..]), (frequencies, &[4])]),
        ("smolvlm", vec![("model.vision_model.embeddings.position_ids", &[1, 64][..])]),
        (
            "blip",
            vec![
                ("text_decoder.bert.embeddings.position_ids", &[1, 64][..]),
                ("text_decoder.cls.predictions.decoder.bias", &[256]),
                ("itm_head.weight", &[2, 32]),
                ("vision_proj.bias", &[16]),
                ("logit_scale", &[]),
            ],
        ),
    ] {
        let folder = copy(name);
        add(folder.path(), &extras);
        assert!(loaded(folder.path()).is_ok(), "{name}: {:?}", loaded(folder.path()).err());
    }
}

#[test]
fn bounds_are_checked_before_anything_is_read() {
    for (config, key) in [
        (Config { max_pixels: 0, ..config() }, "max_pixels"),
        (Config { max_pixels: u64::MAX, ..config() }, "max_pixels"),
        (Config { caption_tokens: 0, ..config() }, "caption_tokens"),
        (Config { answer_tokens: 1 << 20, ..config() }, "answer_tokens"),
    ] {
        let error = load(Path::new("/nowhere"), &config, &Device::Cpu, DType::F32).err().expect("refused").to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn strips_are_refused_and_small_pictures_are_not() {
    let mut model = loaded(&fixture("qwen3-tied")).expect("loads").captioner;
    let picture = |width, height| Picture::new(width, height, vec![9; 3 * (width * height) as usize]).expect("fits");
    let error = model.caption(&[picture(1000, 2)]).expect_err("a strip");
    assert!(matches!(error, ModelError::Input { .. }), "{error:?}");
    for size in [(1, 1), (64, 64), (1, 150)] {
        model.caption(&[picture(size.0, size.1)]).expect("captions");
    }
}

/// The shapes of published models, with few layers so that they fit a test: what a decoder's or a tower's width decides is
/// all there.
#[test]
fn published_shapes_fit() {
    let tokenizer = |name: &str| tokenizers::Tokenizer::from_file(fixture(name).join("tokenizer.json")).expect("there");
    let qwen3 = |width: usize, inner: usize, heads: usize, vision: [usize; 2]| {
        serde_json::json!({
            "model_type": "qwen3_vl", "image_token_id": 500,
            "vision_config": {"depth": 1, "hidden_size": vision[0], "intermediate_size": vision[1], "num_heads": 16,
                "patch_size": 16, "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": width,
                "num_position_embeddings": 2304, "deepstack_visual_indexes": [0]},
            "text_config": {"vocab_size": 1024, "hidden_size": width, "intermediate_size": inner,
                "num_hidden_layers": 1, "num_attention_heads": heads, "num_key_value_heads": 8, "head_dim": 128,
                "rope_theta": 5e6, "rope_scaling": {"mrope_section": [24, 20, 20], "rope_type": "default"}},
        })
    };
    let smol = |width: usize, inner: usize, heads: usize, kv_heads: usize| {
        serde_json::json!({
            "model_type": "smolvlm", "image_token_id": 500, "scale_factor": 4,
            "vision_config": {"hidden_size": 768, "num_hidden_layers": 1, "num_attention_heads": 12, "image_size": 512,
                "patch_size": 16},
            "text_config": {"vocab_size": 1024, "hidden_size": width, "intermediate_size": inner,
                "num_hidden_layers": 2, "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": 64},
        })
    };
    let table = [
        (qwen3(2048, 6144, 16, [1024, 4096]), "qwen3-tied"),
        (qwen3(2560, 9728, 32, [1024, 4096]), "qwen3-tied"),
        (qwen3(4096, 12288, 32, [1152, 4304]), "qwen3-tied"),
        (smol(576, 1536, 9, 3), "smolvlm"),
        (smol(960, 2560, 15, 5), "smolvlm"),
    ];
    let config = Config { caption_tokens: 2, max_pixels: 65_536, ..Config::default() };
    for (json, name) in table {
        let model = random(&json.to_string(), tokenizer(name), &config, &Device::Cpu, DType::F32);
        let picture = Picture::new(320, 180, vec![77; 3 * 320 * 180]).expect("fits");
        let captions = model.expect("builds").captioner.caption(&[picture]).expect("runs");
        assert_eq!(captions.len(), 1);
    }
}
