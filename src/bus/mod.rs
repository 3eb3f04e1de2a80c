//! async_nats lives here and only here: subjects, wire types, service, publish.
