import type { AnyRecordKind } from "../records/kind.ts";
import { asset } from "./asset.ts";
import { audit } from "./audit.ts";
import { continualImprovement } from "./continual-improvement.ts";
import { control } from "./control.ts";
import { datum } from "./datum.ts";
import { document } from "./document.ts";
import { evidence } from "./evidence.ts";
import { framework } from "./framework.ts";
import { measure } from "./measure.ts";
import { nonconformity } from "./nonconformity.ts";
import { obligation } from "./obligation.ts";
import { people } from "./people.ts";
import { risk } from "./risk.ts";
import { task } from "./task.ts";
import { vendor } from "./vendor.ts";

/** Every register, in the order in which the service lists them. */
export const recordKinds: readonly AnyRecordKind[] = [
	risk,
	measure,
	framework,
	control,
	vendor,
	people,
	nonconformity,
	obligation,
	audit,
	asset,
	datum,
	task,
	continualImprovement,
	evidence,
	document,
];
