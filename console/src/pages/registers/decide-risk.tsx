import { Button } from "@mantine/core";
import { type ComponentProps, lazy, Suspense, useState } from "react";
import { type AnyRecord, describeKind, titleOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import type { Selection } from "../../parts/selection.ts";
import { isUndecided } from "./hints.ts";

/** The dialog is loaded when it opens, because few risks are suggested ones. */
const Questions = lazy(() => import("./decide-risks.tsx"));

export const DecideRisks = (props: ComponentProps<typeof Questions>) => (
	<Suspense>
		<Questions {...props} />
	</Suspense>
);

/** The button with which a reader decides about a suggested risk. Shows nothing for other records. */
export function DecideRisk({ record }: { record: AnyRecord }) {
	const { mayWriteKind } = useOrganization();
	const [isOpen, setOpen] = useState(false);
	const isOffered = isUndecided(record) && mayWriteKind("risk");
	return (
		<>
			{isOffered && (
				<Button
					size="xs"
					variant="default"
					mt="xs"
					onClick={() => setOpen(true)}
				>
					Mark as decided …
				</Button>
			)}
			{isOpen && (
				<DecideRisks
					selection={selectionOf(record)}
					onClose={() => setOpen(false)}
				/>
			)}
		</>
	);
}

const selectionOf = (record: AnyRecord): Selection<AnyRecord> => ({
	rows: [record],
	has: ({ length }) => length > 0,
	set: () => {},
	clear: () => {},
	nameOf: (row) => titleOf(describeKind("risk"), row),
});
