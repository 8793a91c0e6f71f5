import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, choiceLabel, fieldOf, kinds } from "../../kinds.ts";
import { formatDay } from "../days.ts";
import { STATUSES } from "../devices/device-words.tsx";
import type { Names } from "./record-names.ts";

/**
 * Returns what tells a record from others of the same name, such as "Done · Mei Tanaka · Aug 28,
 * 2026". `readField` returns the value of a field, and the name of a record that the field refers to.
 */
export function besideWords(
	kind: KindDescription,
	readField: (field: string) => unknown,
): string {
	const words = kind.beside.flatMap((name) => {
		const field = fieldOf(kind, name);
		const value = readField(name);
		if (!field || typeof value !== "string" || value === "") return [];
		return field.type === "choice"
			? choiceLabel(field, value)
			: field.type === "date"
				? formatDay(value)
				: value;
	});
	return words.join(" · ");
}

/** Returns the same for a record. A record that it refers to is left out if its name is not known. */
export const besideRecord = (
	kind: KindDescription,
	record: AnyRecord,
	names?: Names,
): string =>
	besideWords(kind, (name) => {
		const value = record[name];
		return fieldOf(kind, name)?.reference ? names?.get(String(value)) : value;
	});

/** Returns the same for a hit of a search or a linked record, which has the values in its details. */
export function besideFound(
	kind: string,
	details: Readonly<Record<string, unknown>>,
): string {
	const register = kinds.find((one) => one.kind === kind);
	if (register) {
		return besideWords(register, (field) => details[field.replace(/_id$/, "")]);
	}
	if (kind === "snapshot") return formatDay(String(details.created_on));
	const status = STATUSES[details.status as keyof typeof STATUSES];
	return [status?.label, details.owner, details.serial_number]
		.filter(Boolean)
		.join(" · ");
}
