import { Button, Stack } from "@mantine/core";
import { type ComponentProps, type ReactNode, useState } from "react";
import { describeKind } from "../../kinds.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { CreateRecord, canCreateInPlace } from "./create-record.tsx";
import { ReferencePicker, ReferencesPicker } from "./reference-picker.tsx";

/** Chooses a record. The reader can add a missing one without leaving the form. */
export function ReferenceField(props: ComponentProps<typeof ReferencePicker>) {
	return (
		<WithCreation kind={props.kind} onCreated={props.onChange}>
			<ReferencePicker {...props} w="100%" />
		</WithCreation>
	);
}

/** Chooses several records. The reader can add a missing one without leaving the form. */
export function ReferencesField(
	props: ComponentProps<typeof ReferencesPicker>,
) {
	return (
		<WithCreation
			kind={props.kind}
			onCreated={(id) => props.onChange([...props.value, id])}
		>
			<ReferencesPicker {...props} w="100%" />
		</WithCreation>
	);
}

function WithCreation({
	kind,
	onCreated,
	children,
}: {
	kind: RegisterKind;
	onCreated: (id: string) => void;
	children: ReactNode;
}) {
	const [isCreating, setCreating] = useState(false);
	if (!canCreateInPlace(kind)) return children;
	return (
		<Stack gap={6} align="flex-start">
			{children}
			<Button
				variant="subtle"
				size="compact-sm"
				px={0}
				c="var(--mantine-color-anchor)"
				fw={400}
				onClick={() => setCreating(true)}
			>
				Create a {describeKind(kind).noun}
			</Button>
			{isCreating && (
				<CreateRecord
					kind={kind}
					onClose={() => setCreating(false)}
					onCreated={(id) => {
						setCreating(false);
						onCreated(id);
					}}
				/>
			)}
		</Stack>
	);
}
