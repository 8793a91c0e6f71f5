import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { factorsOf } from "../../parts/records/risk-scores.ts";
import type { FormValues } from "./form-values.ts";
import { HintList } from "./hint-list.tsx";
import { useHints } from "./hints.ts";

/** What will want a second look once the form is saved, said while it can still be changed. */
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
	const record = { ...asRecord(kind, values), id } as unknown as AnyRecord;
	return (
		<HintList kind={kind} hints={useHints(kind, record, organizationId)} />
	);
}

/** As the server would give it: nothing is null, and scores are worked out. */
function asRecord(kind: KindDescription, values: FormValues) {
	const held = (name: string) => (values[name] === "" ? null : values[name]);
	return Object.fromEntries(
		kind.fields.map(({ name, given }) => {
			if (given !== "computed") return [name, held(name)];
			const [likelihood, impact] = (factorsOf(name) ?? []).map(
				(factor) =>
					held(factor) ?? held(factor.replace("residual", "inherent")),
			);
			// Compared with anything, what is not known yet is neither more nor less nor the same.
			return [name, Number(likelihood ?? NaN) * Number(impact ?? NaN)];
		}),
	);
}
