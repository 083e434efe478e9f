//! `kiln-syntax`: tokens, grammar and syntax tree of OpenCL C. Knows no types, no IO, no message texts.
