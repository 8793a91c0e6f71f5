import { cost } from "../../src/sign-in/password-hash.ts";

// This makes hashing passwords cheap, because a sign-in takes a third of a second of processor time
// and the tests sign in hundreds of times. Tests of the hashing itself use the real cost, and so
// does every program that a test starts.
Object.assign(cost, { log2N: 10, p: 1 });
