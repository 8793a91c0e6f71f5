import { comply } from "./record-samples/comply.ts";
import { inventory } from "./record-samples/inventory.ts";
import { risk } from "./record-samples/risk.ts";
import type { Sample } from "./record-samples/sample.ts";
import { work } from "./record-samples/work.ts";

/**
 * A sample of every register. They are written by hand from the contract and not derived from the
 * definitions, so that the tests find a wrong definition.
 */
export const samples: Sample[] = [...risk, ...comply, ...inventory, ...work];
