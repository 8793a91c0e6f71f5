import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { factorsOf } from "../../parts/records/risk-scores.ts";
import type { FormValues } from "./form-values.ts";
import { HintList } from "./hint-list.tsx";
import { type Hint, hintsOf, useHints } from "./hints.ts";

/**
 * Shows hints about the values in the form before they are saved, while the user can still change
 * them. Hints about a score stand beside the score.
 */
export function FormHints({
	kind,
	organizationId,
	values,
	id = "",
}: {
	kind: KindDescription;
	organizationId: string;
	values: FormValues;
	id?: string | undefined;
}) {
	// The hints read only fields that forms have, and the id.
	const record = { ...asRecord(kind, values), id } as unknown as AnyRecord;
	const hints = useHints(kind, record, organizationId);
	return (
		<HintList
			kind={kind}
			hints={hints.filter(({ field }) => !factorsOf(field))}
		/>
	);
}

/** Returns the hints about a score, from the values in the form. */
export function scoreHints(
	kind: KindDescription,
	values: FormValues,
	score: string,
): Hint[] {
	// The hints about scores read only fields that forms have.
	const record = asRecord(kind, values) as unknown as AnyRecord;
	return hintsOf(kind.kind, record).filter(({ field }) => field === score);
}

/**
 * Returns the record as the server would return it. Empty values are null, and the scores are
 * computed.
 */
function asRecord(kind: KindDescription, values: FormValues) {
	const held = (name: string) => (values[name] === "" ? null : values[name]);
	return Object.fromEntries(
		kind.fields.map(({ name, given }) => {
			if (given !== "computed") return [name, held(name)];
			const [likelihood, impact] = (factorsOf(name) ?? []).map(
				(factor) =>
					held(factor) ?? held(factor.replace("residual", "inherent")),
			);
			// NaN stands for an unknown value, because every comparison with NaN is false.
			return [name, Number(likelihood ?? NaN) * Number(impact ?? NaN)];
		}),
	);
}
