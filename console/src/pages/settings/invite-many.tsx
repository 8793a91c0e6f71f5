import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { INVITATION_DAYS } from "../../../../src/organizations/days.ts";
import { MAX_OPEN } from "../../../../src/organizations/max-invitations.ts";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ChooseCsv, WrongLines } from "../../parts/csv-choice.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import { forgetReadings } from "../../queries.ts";
import { saveFile } from "../../save-file.ts";
import { readChosenFile } from "../registers/import-file.ts";

type Outcome = OutputOf<"inviteMembers">;

/** Number of skipped addresses that the dialog lists. */
const SHOWN = 20;

const REASONS: Record<Outcome["skipped"][number]["reason"], string> = {
	MEMBER: "is a member already",
	INVITED: "has an open invitation",
	TOO_OFTEN: "was invited five times within a day",
};

/** Invites many members from a CSV file, after it has shown who would be invited. */
export function InviteMany({ onClose }: { onClose: () => void }) {
	const { organizationId } = useOrganization();
	const [csv, setCsv] = useState("");
	const [preview, setPreview] = useState<Outcome>();
	useReturnFocus();
	const checking = useMutation({
		mutationFn: async (file: File) => {
			setPreview(undefined);
			const { text } = await readChosenFile(file);
			setCsv(text);
			const input = { organization_id: organizationId, csv: text };
			setPreview(await call("inviteMembers", { ...input, dry_run: true }));
		},
	});
	const inviting = useMutation({
		mutationFn: () =>
			call("inviteMembers", { organization_id: organizationId, csv }),
		onSuccess: () => forgetReadings(),
	});
	const done = inviting.data;
	const unsent = done?.invited.filter(({ is_mailed }) => !is_mailed) ?? [];
	const once = useSaveOnce(
		unsent.flatMap(({ invitation_url }) => invitation_url ?? []),
		onClose,
	);
	return (
		<SaveOnceModal
			once={once}
			size="lg"
			title={done ? "The members are invited" : "Invite many members"}
		>
			{done ? (
				<Stack>
					<Invited outcome={done} unsent={unsent} />
					<LocalAddressNote address={unsent[0]?.invitation_url} />
					<SaveOnceButtons
						secrets="links"
						consequence="Afterwards each open invitation needs a new link."
						once={once}
						save={{
							label: "Save the links as CSV",
							onClick: () =>
								saveLinks(unsent.length > 0 ? unsent : done.invited),
						}}
					/>
				</Stack>
			) : (
				<Stack>
					<Text size="sm">
						Choose a CSV file with the columns <b>email</b> and <b>role</b>{" "}
						(viewer, member or admin; empty: member). Other columns are not
						read: people enter their names when they join. Up to{" "}
						{MAX_OPEN.toLocaleString()} lines. Members and addresses with an
						open invitation are skipped.
					</Text>
					<ChooseCsv
						isReading={checking.isPending}
						onChoose={checking.mutate}
					/>
					{checking.isError && (
						<ErrorState
							error={checking.error}
							title="The file cannot be read"
						/>
					)}
					{inviting.isError && (
						<ErrorState error={inviting.error} title="Nobody was invited" />
					)}
					{preview && <Preview preview={preview} />}
					<Group justify="flex-end">
						<Button
							variant="default"
							disabled={once.isWaiting}
							onClick={once.leave}
						>
							Cancel
						</Button>
						<Button
							disabled={!preview?.invited.length || preview.problems.length > 0}
							loading={inviting.isPending}
							onClick={() => inviting.mutate()}
						>
							{preview && preview.invited.length > 0
								? `Invite ${countOf(preview.invited.length)}`
								: "Invite"}
						</Button>
					</Group>
				</Stack>
			)}
		</SaveOnceModal>
	);
}

function Preview({ preview }: { preview: Outcome }) {
	const { invited, skipped, problems, unknown_columns } = preview;
	return (
		<div role="status">
			<Text>
				{countOf(invited.length)} will be invited{byRole(invited)}
				{skipped.length > 0 && `, ${skipped.length} skipped`}.
			</Text>
			{unknown_columns.length > 0 && (
				<Text size="sm" mt="xs" style={{ overflowWrap: "anywhere" }}>
					Not read: {unknown_columns.join(", ")}.
				</Text>
			)}
			<WrongLines problems={problems} />
			<Skipped skipped={skipped} />
		</div>
	);
}

function Skipped({ skipped }: Pick<Outcome, "skipped">) {
	if (skipped.length === 0) return null;
	return (
		<>
			<Text mt="xs" size="sm">
				Skipped{skipped.length > SHOWN && ` (the first ${SHOWN})`}:
			</Text>
			<List size="sm">
				{skipped.slice(0, SHOWN).map(({ line, email, reason }) => (
					<List.Item key={line} style={{ overflowWrap: "anywhere" }}>
						{email} {REASONS[reason]}
					</List.Item>
				))}
			</List>
		</>
	);
}

function Invited({
	outcome: { invited, skipped },
	unsent,
}: {
	outcome: Outcome;
	unsent: Outcome["invited"];
}) {
	return (
		<>
			<Text>
				{countOf(invited.length)} invited
				{skipped.length > 0 && `, ${skipped.length} skipped`}.{" "}
				{unsent.length < invited.length &&
					`Mails are queued for ${invited.length - unsent.length}; Settings → Mail shows when they were sent.`}
			</Text>
			{unsent.length > 0 && (
				<Alert
					variant="outline"
					title={
						unsent.length === 1
							? "1 member gets no mail"
							: `${unsent.length} members get no mail`
					}
				>
					Send them their links yourself. The links are shown only now. Each
					works once, within {INVITATION_DAYS} days, and only for its address.
				</Alert>
			)}
		</>
	);
}

function saveLinks(invited: Outcome["invited"]): void {
	// No address contains a quotation mark.
	const lines = invited.map(
		({ email, role, invitation_url }) => `"${email}",${role},${invitation_url}`,
	);
	const text = `email,role,invitation_url\r\n${lines.join("\r\n")}\r\n`;
	saveFile("invitations.csv", new Blob([text], { type: "text/csv" }));
}

/** Returns " (480 as member, 20 as viewer)". A misspelled column of roles shows here. */
function byRole(invited: Outcome["invited"]): string {
	const counts = new Map<string, number>();
	for (const { role } of invited) counts.set(role, (counts.get(role) ?? 0) + 1);
	const parts = [...counts].map(([role, count]) => `${count} as ${role}`);
	return parts.length > 0 ? ` (${parts.join(", ")})` : "";
}

function countOf(count: number): string {
	return count === 1 ? "1 member" : `${count} members`;
}
