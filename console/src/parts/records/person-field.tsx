import { Button, Stack } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CreatePerson } from "./create-person.tsx";
import { ReferencePicker } from "./reference-picker.tsx";

/** Chooses a person. The reader can add a missing person without leaving the form. */
export function PersonField({
	value,
	onChange,
	...rest
}: {
	organizationId: string;
	label: string;
	description: string | undefined;
	placeholder: string;
	required?: boolean;
	clearable?: boolean;
	error?: ReactNode;
	"data-path"?: string;
	value: string | null;
	onChange: (id: string | null) => void;
}) {
	const [isCreating, setCreating] = useState(false);
	return (
		<Stack gap={6} align="flex-start">
			<ReferencePicker
				{...rest}
				kind="people"
				w="100%"
				value={value}
				onChange={onChange}
			/>
			<Button
				variant="subtle"
				size="compact-sm"
				px={0}
				c="var(--mantine-color-anchor)"
				fw={400}
				onClick={() => setCreating(true)}
			>
				Create a person
			</Button>
			{isCreating && (
				<CreatePerson
					onClose={() => setCreating(false)}
					onCreated={(id) => {
						setCreating(false);
						onChange(id);
					}}
				/>
			)}
		</Stack>
	);
}
