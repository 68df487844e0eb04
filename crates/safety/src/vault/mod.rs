//! A tenant's secrets, at rest and on their way to the client that needs them.
