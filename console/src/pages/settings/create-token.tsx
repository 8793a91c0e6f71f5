import {
	Button,
	Group,
	Select,
	Stack,
	Textarea,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { call, type InputOf } from "../../api.ts";
import { dayOf, endOfDay } from "../../parts/days.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SaveOnceModal, useSaveOnce } from "../../parts/save-once.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { NewToken } from "./new-token.tsx";
import { ScopeFields, scopesOf, unlimited } from "./scope-fields.tsx";

const NEVER = "never";
const ON_A_DAY = "day";
/** The choices for the number of days until a token expires. */
const LIVES = [
	{ value: "7", label: "In 7 days" },
	{ value: "30", label: "In 30 days" },
	{ value: "90", label: "In 90 days" },
	{ value: "365", label: "In a year" },
	{ value: ON_A_DAY, label: "On a chosen day …" },
	{ value: NEVER, label: "Never" },
];

const initialValues = {
	name: "",
	description: "",
	expires_in_days: "365",
	expires_at: "",
	...unlimited,
};

/** Asks for a name, creates the token, and shows it once. */
export function CreateToken({ onClose }: { onClose: () => void }) {
	const [token, setToken] = useState<string | null>(null);
	const once = useSaveOnce(token, onClose);
	useReturnFocus();
	const form = useForm({
		initialValues,
		validate: {
			expires_at: (day, { expires_in_days }) =>
				expires_in_days === ON_A_DAY && !day ? "Choose a day." : null,
		},
	});
	const saving = useSaving(
		form,
		({ name, description, ...rest }) =>
			call("createApiToken", {
				name: name.trim(),
				description: description.trim() || null,
				...expiryOf(rest),
				...scopesOf(rest),
			}),
		(created) => {
			setToken(created.token);
			return forgetReadings();
		},
	);
	return (
		<SaveOnceModal
			once={once}
			size="lg"
			title={token ? "Your new API token" : "Create an API token"}
		>
			{token ? (
				<NewToken token={token} once={once} />
			) : (
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState
								error={saving.refusal}
								title="The token was not created"
							/>
						)}
						<TextInput
							label={FIELD_LABELS.api_token.name}
							description="What will use it, such as “Claude Code on my laptop”. Make one token for each use, so that you can revoke each one separately."
							withAsterisk
							data-autofocus
							autoComplete="off"
							{...form.getInputProps("name")}
						/>
						<Textarea
							label={FIELD_LABELS.api_token.description}
							autosize
							minRows={2}
							maxRows={8}
							{...form.getInputProps("description")}
						/>
						<Group align="flex-start">
							<Select
								label={FIELD_LABELS.api_token.expires_at}
								allowDeselect={false}
								data={LIVES}
								w={220}
								{...form.getInputProps("expires_in_days")}
							/>
							{form.values.expires_in_days === ON_A_DAY && (
								<TextInput
									type="date"
									label="Day"
									withAsterisk
									min={dayOf(new Date())}
									w={180}
									{...form.getInputProps("expires_at")}
								/>
							)}
						</Group>
						<ScopeFields form={form} />
						<Group justify="flex-end">
							<Button
								variant="default"
								disabled={once.isWaiting}
								onClick={once.leave}
							>
								Cancel
							</Button>
							<Button type="submit" loading={saving.isSaving}>
								Create the token
							</Button>
						</Group>
					</Stack>
				</form>
			)}
		</SaveOnceModal>
	);
}

function expiryOf({
	expires_in_days: life,
	expires_at: day,
}: Pick<typeof initialValues, "expires_in_days" | "expires_at">): Partial<
	InputOf<"createApiToken">
> {
	if (life === NEVER) return { expires_at: null };
	if (life !== ON_A_DAY) return { expires_in_days: Number(life) };
	return { expires_at: endOfDay(day) };
}
