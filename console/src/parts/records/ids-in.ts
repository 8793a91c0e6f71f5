import { isLinkedEnd } from "./linked-end.ts";

const ID = /^[\w-]{32}$/;

/** Returns the ids of records in the value of a field that was changed, also those below it. */
export function idsIn(name: string, value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap((one) => idsIn(name, one));
	if (isLinkedEnd(value)) return ID.test(value.id) ? [value.id] : [];
	if (typeof value === "object" && value !== null) {
		return Object.entries(value).flatMap((part) => idsIn(...part));
	}
	const isId = /_ids?$/.test(name) && typeof value === "string";
	return isId && ID.test(value) ? [value] : [];
}
