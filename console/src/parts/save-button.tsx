import { Button, Group } from "@mantine/core";

interface SaveButtonProps {
	isSaving: boolean;
	/** False while the form has nothing to save. */
	isDirty: boolean;
}

/** The button that ends a form of settings. */
export function SaveButton({ isSaving, isDirty }: SaveButtonProps) {
	return (
		<Group>
			<Button type="submit" loading={isSaving} disabled={!isDirty}>
				Save
			</Button>
		</Group>
	);
}
