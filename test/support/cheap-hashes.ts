import { cost } from "../../src/sign-in/password-hash.ts";

// A sign-in costs a third of a second of a processor, and the tests sign in hundreds of times; those
// of hashing itself take what the service has. A program that a test starts has it anyway.
Object.assign(cost, { log2N: 10, p: 1 });
