import { Button, Select } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { BulkDialog } from "../bulk-dialog.tsx";
import type { Selection } from "../selection.ts";
import { isRegisterKind, labelOfLinked, linkedKinds } from "./linkable.tsx";
import { ReferencePicker } from "./reference-picker.tsx";

/** The kinds whose records can be picked. A device has too little text to be picked by. */
const TARGETS = linkedKinds.filter(isRegisterKind);

/** Links all selected rows to one record. */
export function LinkSelected<Row extends { id: string }>({
	organizationId,
	selection,
	counted,
}: {
	organizationId: string;
	selection: Selection<Row>;
	/** Returns, for example, "3 risks". */
	counted: (count: number) => string;
}) {
	const [isOpen, setOpen] = useState(false);
	const [kind, setKind] = useState<RegisterKind>("measure");
	const [target, setTarget] = useState<string | null>(null);
	return (
		<>
			<Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
				Link …
			</Button>
			{isOpen && (
				<BulkDialog
					title={`Link ${counted(selection.rows.length)} to one record`}
					action="Link"
					done={(count) => `${counted(count)} linked`}
					selection={selection}
					kept={(row) => row}
					onClose={() => {
						setOpen(false);
						setTarget(null);
					}}
					request={
						target
							? ({ id }) =>
									call("linkRecords", {
										record_id: id,
										linked_record_id: target,
									})
							: undefined
					}
				>
					<Select
						label="Kind"
						data={TARGETS.map((value) => ({
							value,
							label: labelOfLinked(value),
						}))}
						allowDeselect={false}
						value={kind}
						onChange={(chosen) => {
							setKind((chosen ?? "measure") as RegisterKind);
							setTarget(null);
						}}
					/>
					<ReferencePicker
						key={kind}
						organizationId={organizationId}
						kind={kind}
						label="Record"
						value={target}
						onChange={setTarget}
					/>
				</BulkDialog>
			)}
		</>
	);
}
