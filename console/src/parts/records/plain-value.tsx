import { isCanonicalCheck } from "../../../../src/devices/terms.ts";
import { checkLabel } from "../devices/check-label.ts";
import { endOfId } from "../devices/device-name.ts";
import { inWords } from "../names-in-words.ts";
import { CalendarDate, DateTime } from "../time.tsx";
import type { Names } from "./record-names.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*(Z|\+00:00)$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Shows a value of a field that no register describes, such as a list, a time or a state. */
export function PlainValue({ value, names }: { value: unknown; names: Names }) {
	if (Array.isArray(value)) {
		return value.map((one) => (
			<div key={String(one)}>
				<PlainValue value={one} names={names} />
			</div>
		));
	}
	if (typeof value === "boolean") return value ? "Yes" : "No";
	if (typeof value === "object" && value !== null) {
		return Object.entries(value)
			.filter(([, one]) => one !== null)
			.map(([name, one]) =>
				/^person_ids?$/.test(name) ? (
					<div key={name}>{peopleInWords([one].flat(), names)}</div>
				) : (
					<div key={name}>
						{inWords(names.has(String(one)) ? name.replace(/_id$/, "") : name)}:{" "}
						<PlainValue value={one} names={names} />
					</div>
				),
			);
	}
	const text = String(value);
	if (TIME.test(text)) return <DateTime value={text} />;
	if (DAY.test(text)) return <CalendarDate value={text} />;
	if (isCanonicalCheck(text)) return checkLabel(text);
	// A value in capitals is usually a state such as IN_PROGRESS, because users hardly ever type such
	// text.
	if (/^[A-Z]{2,}(_[A-Z]+)*$/.test(text)) return inWords(text);
	return names.get(text) ?? text;
}

/**
 * Shows people, given by their ids, by their names. Shows the end of the id of a deleted person.
 */
function peopleInWords(ids: unknown[], names: Names): string {
	const shown = ids.map(String).map((id) => names.get(id) ?? endOfId(id));
	return `${ids.length === 1 ? "Person" : "People"}: ${shown.join(", ")}`;
}
