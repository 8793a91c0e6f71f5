import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deviceWords } from "../../../../src/sign-in/browser-words.ts";
import { call, type OutputOf } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { addPasskey, hasPasskeySupport } from "../../passkeys.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { signInWaysQuery } from "../sign-in/link.ts";
import styles from "./account.module.css";
import { Section } from "./account-section.tsx";
import { Dialogue } from "./dialogue.tsx";

type Passkey = OutputOf<"listPasskeys">["passkeys"][number];
type Dialog = { kind: "add" } | { kind: "rename" | "remove"; passkey: Passkey };

/** Lists the user's passkeys, and lets the user add, rename and remove them. */
export function Passkeys() {
	const found = useQuery(operationQuery("listPasskeys", {}));
	const ways = useQuery(signInWaysQuery);
	const [dialog, setDialog] = useState<Dialog | null>(null);
	const close = () => setDialog(null);
	const canAdd = hasPasskeySupport() && ways.data?.has_passkeys !== false;
	const passkeys = found.data?.passkeys ?? [];
	return (
		<Section
			title="Passkeys"
			description="A passkey is kept by your phone, computer, password manager or security key. You unlock it with a fingerprint, face or PIN, and it replaces the password and the code. Nobody can trick you into typing it elsewhere."
			action={
				canAdd && (
					<Button
						variant="default"
						size="xs"
						onClick={() => setDialog({ kind: "add" })}
					>
						Add a passkey …
					</Button>
				)
			}
		>
			{!canAdd && (
				<Text size="sm" c="dimmed">
					{ways.data?.has_passkeys === false
						? "Passkeys need a name, and this service is reached at an IP address. Ask the people who run it."
						: "This browser has no passkeys here. They need a secure connection (https)."}
				</Text>
			)}
			{found.isError ? (
				<ErrorState error={found.error} onRetry={found.refetch} />
			) : !found.data ? (
				<RowsSkeleton rows={2} />
			) : passkeys.length === 0 ? (
				<Text size="sm">You have no passkey yet.</Text>
			) : (
				<ul className={styles.rows}>
					{passkeys.map((passkey) => (
						<li key={passkey.id} className={styles.row}>
							<Row
								passkey={passkey}
								onRename={() => setDialog({ kind: "rename", passkey })}
								onRemove={() => setDialog({ kind: "remove", passkey })}
							/>
						</li>
					))}
				</ul>
			)}
			{dialog?.kind === "add" && <AddPasskey onClose={close} />}
			{dialog?.kind === "rename" && (
				<RenamePasskey passkey={dialog.passkey} onClose={close} />
			)}
			<Confirm
				opened={dialog?.kind === "remove"}
				onClose={close}
				title="Remove this passkey?"
				action="Remove"
				onConfirm={async () => {
					if (dialog?.kind !== "remove") return;
					await call("removePasskey", { id: dialog.passkey.id });
					await forgetReadings();
				}}
			>
				It no longer signs in here, and other sessions that began with it end.
				Your device may still show it: delete it there too.
			</Confirm>
		</Section>
	);
}

function Row({
	passkey,
	onRename,
	onRemove,
}: {
	passkey: Passkey;
	onRename: () => void;
	onRemove: () => void;
}) {
	const { name, created_at, last_used_at } = passkey;
	return (
		<Group justify="space-between" gap="sm">
			<Stack gap={2} miw={0}>
				<Group gap="xs">
					<Text fw={500} style={{ overflowWrap: "anywhere" }}>
						{name}
					</Text>
					{!passkey.works_here && (
						<StatusBadge tone="warning" label="For another address" />
					)}
					{!passkey.can_sign_in && (
						<StatusBadge tone="neutral" label="Second factor only" />
					)}
					{passkey.is_synced && <StatusBadge tone="active" label="Synced" />}
				</Group>
				<Text size="sm" c="dimmed">
					Added <DateTime value={created_at} />
					{" · "}
					{last_used_at ? (
						<>
							last used <RelativeTime value={last_used_at} />
						</>
					) : (
						"never used"
					)}
				</Text>
			</Stack>
			<Group gap="xs" wrap="nowrap">
				<Button
					variant="default"
					size="xs"
					onClick={onRename}
					aria-label={`Rename ${name}`}
				>
					Rename …
				</Button>
				<Button
					variant="default"
					size="xs"
					onClick={onRemove}
					aria-label={`Remove ${name}`}
				>
					Remove …
				</Button>
			</Group>
		</Group>
	);
}

function AddPasskey({ onClose }: { onClose: () => void }) {
	return (
		<NameForm
			title="Add a passkey"
			name={deviceWords(navigator.userAgent)}
			description="A name that you will recognize. Your browser then asks where to keep the passkey."
			action="Continue"
			refusal="No passkey was added"
			onClose={onClose}
			onSubmit={addPasskey}
			onDone={({ can_sign_in }) =>
				notifications.show({
					message: can_sign_in
						? "The passkey is added. You can sign in with it."
						: "The passkey is added as a second factor. It does not check who uses it, so you also need your password.",
				})
			}
		/>
	);
}

function RenamePasskey({
	passkey,
	onClose,
}: {
	passkey: Passkey;
	onClose: () => void;
}) {
	return (
		<NameForm
			title="Rename the passkey"
			name={passkey.name}
			action="Save"
			refusal="Not saved"
			onClose={onClose}
			onSubmit={(name) => call("renamePasskey", { id: passkey.id, name })}
			onDone={() => notifications.show({ message: "The passkey is renamed." })}
		/>
	);
}

function NameForm<Result>({
	title,
	name,
	description,
	action,
	refusal,
	onClose,
	onSubmit,
	onDone,
}: {
	title: string;
	/** The name that the field begins with. */
	name: string;
	description?: string;
	action: string;
	/** The title of an error. */
	refusal: string;
	onClose: () => void;
	onSubmit: (name: string) => Promise<Result>;
	onDone: (result: Result) => void;
}) {
	const form = useForm({
		initialValues: { name },
		validate: { name: (text) => (text.trim() ? null : "Enter a name.") },
	});
	const saving = useSaving(
		form,
		(values) => onSubmit(values.name.trim()),
		async (result) => {
			onClose();
			onDone(result);
			await forgetReadings();
		},
	);
	return (
		<Dialogue title={title} onClose={onClose}>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState error={saving.refusal} title={refusal} />
					)}
					<TextInput
						label="Name"
						description={description}
						maxLength={100}
						data-autofocus
						{...form.getInputProps("name")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							{action}
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialogue>
	);
}
