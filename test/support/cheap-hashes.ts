import { cost } from "../../src/sign-in/password-hash.ts";

// A sign-in takes a third of a second of CPU time, and the tests sign in hundreds of times. Tests
// of the hashing itself use the real cost, and so does a program that a test starts.
Object.assign(cost, { log2N: 10, p: 1 });
