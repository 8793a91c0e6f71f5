import { cost } from "../../src/sign-in/password-hash.ts";

// In tests, hashing a password is cheap. A sign-in would otherwise take a third of a second of
// processor time, and the tests sign in hundreds of times. Tests of the hashing itself use the real
// cost, and so does every program that a test starts.
Object.assign(cost, { log2N: 10, p: 1 });
