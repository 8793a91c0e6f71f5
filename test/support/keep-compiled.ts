import { flushCompileCache } from "node:module";
import { afterAll } from "vitest";

// Node writes its cache of compiled code when a process exits, but Vitest kills its workers.
afterAll(() => flushCompileCache());
