//! GGUF, the container of quantised weights: metadata and tensors as bytes.
//!
//! Every length is checked against what is left of the file before anything is allocated, so a damaged file is an
//! error and never a panic. Knows nothing of models. Format: `ggml/docs/gguf.md`, version 2 and 3, little endian.

use std::collections::HashMap;

/// What is wrong with a file, or what it lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GgufError {
    /// Not this format at all.
    #[error("not a GGUF file of version 2 or 3")]
    Magic,
    /// Ends early, or holds a length or type that cannot be.
    #[error("truncated or damaged at byte {0}")]
    Damaged(usize),
    /// No such entry, or one of another type.
    #[error("metadata {0:?} is missing or has an unexpected type")]
    Metadata(String),
    /// A network that is not computed here.
    #[error("architecture {0:?} is not supported: llama, qwen2, qwen3 and gemma3 are")]
    Architecture(String),
    /// No such tensor, or one of another shape or form.
    #[error("tensor {name:?} {problem}")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// One metadata value; integers of every width become `Int`, both float widths `Float`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Any integer; above 2^63 it saturates.
    Int(i64),
    /// Any float.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// UTF-8; wrong bytes are replaced.
    Text(String),
    /// A list of one type.
    List(Vec<Value>),
}

/// How the numbers of a tensor are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// The upper halves of 32-bit floats.
    BF16,
    /// Blocks of 32: scale (f16), 32 nibbles; 18 bytes.
    Q4_0,
    /// Blocks of 32: scale, minimum (f16), 32 nibbles; 20 bytes.
    Q4_1,
    /// Blocks of 32: scale (f16), 32 signed bytes; 34 bytes.
    Q8_0,
    /// Blocks of 256: scale of scales and of minima (f16), eight of each in 6 bits, 256 nibbles; 144 bytes.
    Q4K,
    /// Blocks of 256: 256 numbers of 6 bits, sixteen scales (i8), scale of scales (f16); 210 bytes.
    Q6K,
}

impl Form {
    fn of(tag: u32) -> Option<Self> {
        match tag {
            0 => Some(Self::F32),
            1 => Some(Self::F16),
            2 => Some(Self::Q4_0),
            3 => Some(Self::Q4_1),
            8 => Some(Self::Q8_0),
            12 => Some(Self::Q4K),
            14 => Some(Self::Q6K),
            30 => Some(Self::BF16),
            _ => None,
        }
    }

    /// Numbers and bytes of one block.
    pub(crate) fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::BF16 => (1, 2),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q8_0 => (32, 34),
            Self::Q4K => (256, 144),
            Self::Q6K => (256, 210),
        }
    }
}

#[derive(Debug)]
struct Info {
    /// Fastest dimension first.
    dims: Vec<usize>,
    tag: u32,
    offset: usize,
}

/// A tensor: rows of `cols` numbers in one form, as bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawTensor<'a> {
    /// Number of rows; 1 for a vector.
    pub(crate) rows: usize,
    /// Numbers in a row, a multiple of the form's block.
    pub(crate) cols: usize,
    /// How they are stored.
    pub(crate) form: Form,
    /// All rows.
    pub(crate) bytes: &'a [u8],
}

/// A parsed file over its bytes.
#[derive(Debug)]
pub struct Gguf<'a> {
    metadata: HashMap<String, Value>,
    tensors: HashMap<String, Info>,
    data: &'a [u8],
    /// Where `data` begins in the file.
    start: usize,
}

impl<'a> Gguf<'a> {
    /// Reads the header; tensors are looked at when asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, GgufError> {
        let mut cursor = Cursor { bytes, at: 0 };
        if cursor.take(4).map_err(|_| GgufError::Magic)? != b"GGUF" || !matches!(cursor.u32()?, 2 | 3) {
            return Err(GgufError::Magic);
        }
        let (tensor_count, value_count) = (cursor.count(24)?, cursor.count(12)?);
        let mut metadata = HashMap::with_capacity(value_count);
        for _ in 0..value_count {
            let key = cursor.text()?;
            let tag = cursor.u32()?;
            metadata.insert(key, cursor.value(tag, 0)?);
        }
        let mut tensors = HashMap::with_capacity(tensor_count);
        for _ in 0..tensor_count {
            let name = cursor.text()?;
            tensors.insert(name, cursor.info()?);
        }
        let alignment = match metadata.get("general.alignment") {
            Some(Value::Int(n @ 1..=65536)) => *n as usize,
            _ => 32,
        };
        let start = cursor.at.next_multiple_of(alignment);
        let data = bytes.get(start..).ok_or(GgufError::Damaged(cursor.at))?;
        Ok(Self { metadata, tensors, data, start })
    }

    /// The value under `key`.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// A non-negative integer.
    pub(crate) fn size(&self, key: &str) -> Result<usize, GgufError> {
        match self.value(key) {
            Some(Value::Int(n)) => usize::try_from(*n).map_err(|_| GgufError::Metadata(key.to_owned())),
            _ => Err(GgufError::Metadata(key.to_owned())),
        }
    }

    /// A number.
    pub(crate) fn float(&self, key: &str) -> Result<f64, GgufError> {
        match self.value(key) {
            Some(Value::Float(v)) => Ok(*v),
            _ => Err(GgufError::Metadata(key.to_owned())),
        }
    }

    /// A text.
    pub(crate) fn text(&self, key: &str) -> Result<&str, GgufError> {
        match self.value(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(GgufError::Metadata(key.to_owned())),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<&str>, GgufError> {
        let missing = || GgufError::Metadata(key.to_owned());
        let Some(Value::List(list)) = self.value(key) else { return Err(missing()) };
        list.iter()
            .map(|value| if let Value::Text(text) = value { Ok(text.as_str()) } else { Err(missing()) })
            .collect()
    }

    /// Whether there is a tensor `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Where in the file the bytes of the tensor `name` begin, up to the end of the file.
    pub fn range(&self, name: &str) -> Option<std::ops::RangeFrom<usize>> {
        self.tensors.get(name).map(|info| self.start + info.offset..)
    }

    /// The tensor `name`, which must have `rows` × `cols` numbers.
    pub(crate) fn tensor(&self, name: &str, rows: usize, cols: usize) -> Result<RawTensor<'a>, GgufError> {
        let wrong = |problem: String| GgufError::Tensor { name: name.to_owned(), problem };
        let info = self.tensors.get(name).ok_or_else(|| wrong("is missing".to_owned()))?;
        let form = Form::of(info.tag).ok_or_else(|| {
            wrong(format!("has form {}; F32, F16, BF16, Q4_0, Q4_1, Q8_0, Q4_K and Q6_K can be read", info.tag))
        })?;
        let expected: &[usize] = if rows == 1 { &[cols] } else { &[cols, rows] };
        if info.dims != expected {
            return Err(wrong(format!("has shape {:?} instead of {expected:?}", info.dims)));
        }
        let (numbers, size) = form.block();
        if !cols.is_multiple_of(numbers) {
            return Err(wrong(format!("has rows of {cols}, not a multiple of {numbers}")));
        }
        let len = rows * cols / numbers * size;
        let bytes = info.offset.checked_add(len).and_then(|end| self.data.get(info.offset..end));
        let bytes = bytes.ok_or_else(|| wrong("reaches past the end of the file: it is truncated".to_owned()))?;
        Ok(RawTensor { rows, cols, form, bytes })
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], GgufError> {
        let end = self.at.checked_add(len).ok_or(GgufError::Damaged(self.at))?;
        let bytes = self.bytes.get(self.at..end).ok_or(GgufError::Damaged(self.at))?;
        self.at = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], GgufError> {
        let at = self.at;
        self.take(N)?.try_into().map_err(|_| GgufError::Damaged(at))
    }

    fn u32(&mut self) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number of items that take at least `least` bytes each: it cannot exceed what is left.
    fn count(&mut self, least: usize) -> Result<usize, GgufError> {
        let at = self.at;
        let count = usize::try_from(self.u64()?).map_err(|_| GgufError::Damaged(at))?;
        let fits = count <= (self.bytes.len() - self.at) / least;
        if fits { Ok(count) } else { Err(GgufError::Damaged(at)) }
    }

    fn text(&mut self) -> Result<String, GgufError> {
        let len = self.count(1)?;
        Ok(String::from_utf8_lossy(self.take(len)?).into_owned())
    }

    fn value(&mut self, tag: u32, depth: usize) -> Result<Value, GgufError> {
        Ok(match tag {
            0 => Value::Int(i64::from(self.array::<1>()?[0])),
            1 => Value::Int(i64::from(i8::from_le_bytes(self.array()?))),
            2 => Value::Int(i64::from(u16::from_le_bytes(self.array()?))),
            3 => Value::Int(i64::from(i16::from_le_bytes(self.array()?))),
            4 => Value::Int(i64::from(self.u32()?)),
            5 => Value::Int(i64::from(i32::from_le_bytes(self.array()?))),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.array()?))),
            7 => Value::Bool(self.array::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            9 if depth < 2 => {
                let item = self.u32()?;
                let count = self.count(1)?;
                Value::List((0..count).map(|_| self.value(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            10 => Value::Int(i64::try_from(self.u64()?).unwrap_or(i64::MAX)),
            11 => Value::Int(i64::from_le_bytes(self.array()?)),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            _ => return Err(GgufError::Damaged(self.at)),
        })
    }

    fn info(&mut self) -> Result<Info, GgufError> {
        let rank = self.u32()? as usize;
        if rank > 4 {
            return Err(GgufError::Damaged(self.at));
        }
        let at = self.at;
        let damaged = |_| GgufError::Damaged(at);
        let dims = (0..rank).map(|_| usize::try_from(self.u64()?).map_err(damaged)).collect::<Result<_, _>>()?;
        let tag = self.u32()?;
        let offset = usize::try_from(self.u64()?).map_err(damaged)?;
        Ok(Info { dims, tag, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One list of texts, one F32 vector `v` and one Q8_0 matrix `m` of 2 × 32.
    fn file() -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(2u64.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        text(&mut bytes, "words");
        for word in [9u32, 8] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(2u64.to_le_bytes());
        text(&mut bytes, "a");
        text(&mut bytes, "b");
        for (name, dims, tag, offset) in [("v", vec![2u64], 0u32, 0u64), ("m", vec![32, 2], 8, 32)] {
            text(&mut bytes, name);
            bytes.extend((dims.len() as u32).to_le_bytes());
            for dim in &dims {
                bytes.extend(dim.to_le_bytes());
            }
            bytes.extend(tag.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend([1.5f32, -2.0].into_iter().flat_map(f32::to_le_bytes));
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(vec![7u8; 68]);
        bytes
    }

    #[test]
    fn values_and_tensors_are_found() {
        let bytes = file();
        let gguf = Gguf::parse(&bytes).expect("well formed");
        assert_eq!(gguf.texts("words"), Ok(vec!["a", "b"]));
        assert_eq!(gguf.size("words"), Err(GgufError::Metadata("words".to_owned())));
        let matrix = gguf.tensor("m", 2, 32).expect("there");
        assert_eq!((matrix.form, matrix.bytes), (Form::Q8_0, [7u8; 68].as_slice()));
        assert!(gguf.tensor("m", 32, 2).is_err() && gguf.tensor("n", 1, 1).is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = file();
        for len in 0..bytes.len() {
            let read = Gguf::parse(&bytes[..len]).and_then(|gguf| gguf.tensor("m", 2, 32).map(|_| ()));
            assert!(read.is_err(), "{len} bytes were accepted");
        }
    }

    #[test]
    fn no_single_damaged_byte_panics() {
        let bytes = file();
        for at in 0..bytes.len() {
            for bits in [0xffu8, 0x80, 0x01] {
                let mut damaged = bytes.clone();
                damaged[at] ^= bits;
                if let Ok(gguf) = Gguf::parse(&damaged) {
                    let _ = gguf.tensor("m", 2, 32);
                }
            }
        }
    }
}
