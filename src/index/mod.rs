//! redb lives here and only here: schema, codec, writer, search.
