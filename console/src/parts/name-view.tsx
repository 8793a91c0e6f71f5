import { Button, Checkbox, Group, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { forgetReadings } from "../queries.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorState } from "./error-state.tsx";
import { useReturnFocus } from "./return-focus.ts";

/** Asks for the name of a view, and whether to share it. */
export function NameView({
	title,
	name: given,
	mayShare,
	onClose,
	onSave,
}: {
	title: string;
	name: string;
	mayShare: boolean;
	onClose: () => void;
	onSave: (name: string, isShared: boolean) => Promise<unknown>;
}) {
	const [name, setName] = useState(given);
	const [isShared, setShared] = useState(false);
	const [isTried, setTried] = useState(false);
	const saving = useMutation({
		mutationFn: () => onSave(name.trim(), isShared),
		onSuccess: () => {
			void forgetReadings();
			onClose();
		},
	});
	useReturnFocus();
	const isMissing = isTried && name.trim() === "";
	const wrong =
		saving.error instanceof ApiError
			? saving.error.fields?.find(({ field }) => field === "name")
			: undefined;
	return (
		<Dialog opened onClose={onClose} title={title}>
			<form
				noValidate
				onSubmit={(event) => {
					event.preventDefault();
					setTried(true);
					if (name.trim() !== "" && !saving.isPending) saving.mutate();
				}}
			>
				<Stack>
					<TextInput
						label="Name"
						required
						data-autofocus
						maxLength={100}
						value={name}
						onChange={({ currentTarget }) => setName(currentTarget.value)}
						error={
							isMissing
								? "Enter a name."
								: wrong && `This name ${wrong.message}.`
						}
					/>
					{mayShare && (
						<Checkbox
							label="Share with everybody in the organization"
							checked={isShared}
							onChange={({ currentTarget }) => setShared(currentTarget.checked)}
						/>
					)}
					{saving.isError && !wrong && (
						<ErrorState error={saving.error} title="The view was not saved" />
					)}
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isPending}>
							Save
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
