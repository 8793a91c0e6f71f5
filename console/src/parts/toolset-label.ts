import { describeKind } from "../kinds.ts";
import { registerKinds } from "../register-kinds.ts";

/** The registers by the names of their toolsets, for example "Data types" by "data". */
const REGISTERS: ReadonlyMap<string, string> = new Map(
	registerKinds.map(({ kind, label }) => [describeKind(kind).key.many, label]),
);

/** Returns the name of a toolset as people read it, for example "Audit log" for "audit_log". */
export function toolsetLabel(name: string): string {
	const words = name.charAt(0).toUpperCase() + name.slice(1);
	return REGISTERS.get(name) ?? words.replaceAll("_", " ");
}
