import { Button, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { CHANNEL_WORDS } from "./channel-words.ts";
import { NotificationDeliveries } from "./notification-deliveries.tsx";
import { NotificationDialog } from "./notification-dialog.tsx";
import { RowActions, SendingState, useTest } from "./outgoing.tsx";

export type Channel = OutputOf<"listNotificationChannels">["channels"][number];

/** Chooses who is told what, by mail or in a chat. */
export function Page() {
	const { organizationId } = useOrganization();
	const [editing, setEditing] = useState<Channel | "new" | null>(null);
	const [deleting, setDeleting] = useState<Channel | null>(null);
	const [shownId, setShownId] = useState<string | null>(null);
	const { data } = useSuspenseQuery(
		operationQuery("listNotificationChannels", {
			organization_id: organizationId,
		}),
	);
	const shown = data.channels.find(({ id }) => id === shownId);
	const { error, test } = useTest(async ({ id }: Channel) => {
		const { sent_to } = await call("testNotificationChannel", {
			organization_id: organizationId,
			id,
		});
		if (sent_to !== "CHAT") return "A test mail to you is queued.";
		setShownId(id);
		return "A test message is queued.";
	});
	const columns: Column<Channel>[] = [
		{
			id: "name",
			header: "Channel",
			cell: (row) => (
				<>
					<Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
						{row.name}
					</Text>
					<Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
						{CHANNEL_WORDS[row.kind].label}
						{row.address_host && ` · ${row.address_host}`}
						{row.event_types.length > 0 &&
							` · ${row.event_types.length === 1 ? "1 event" : `${row.event_types.length} events`}`}
					</Text>
				</>
			),
		},
		{
			id: "state",
			header: "Status",
			cell: (row) => (
				<>
					<SendingState of={row} />
					{row.is_enabled && row.next_digest_at && (
						<Text size="xs" mt={4}>
							Next mails: <DateTime value={row.next_digest_at} />
						</Text>
					)}
					{row.unmailed_count > 0 && (
						<Text size="xs" mt={4}>
							{row.unmailed_count === 1
								? "1 person got no mail"
								: `${row.unmailed_count.toLocaleString()} people got no mail`}{" "}
							on <DateTime value={row.unmailed_at} />. For an organization that
							was made in the console, the service mails only a few people a day
							who are not members. Invite them, or ask the operator of the
							service to lift this limit.
						</Text>
					)}
				</>
			),
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			cell: (row) => (
				<RowActions
					of={row.name}
					actions={{
						Test: () => test(row),
						Deliveries: () => setShownId(row.id === shownId ? null : row.id),
						Change: () => setEditing(row),
						Delete: () => setDeleting(row),
					}}
				/>
			),
		},
	];
	return (
		<>
			<PageHeader
				title="Notifications"
				description="Who is told what happens, by mail or in a chat."
				actions={
					<Button onClick={() => setEditing("new")}>Add a channel</Button>
				}
			/>
			<Stack>
				{error && <ErrorState error={error} />}
				{!data.sends_mail && (
					<Text size="sm">
						This service has no mail server, so notifications can go to chats
						only. The operator of the service can set ASSAY_SMTP_URL. The
						console shows everything in any case.
					</Text>
				)}
				{data.channels.length > 0 ? (
					<DataTable label="Channels" columns={columns} rows={data.channels} />
				) : (
					<EmptyState title="No notifications are sent yet">
						{data.sends_mail
							? "Add a channel to send the owners of devices a weekly mail, or to tell your team's chat when a check fails."
							: "Add a channel to tell your team's chat when a check fails."}
					</EmptyState>
				)}
				{shown && <NotificationDeliveries key={shown.id} channel={shown} />}
			</Stack>
			{editing && (
				<NotificationDialog
					channel={editing === "new" ? undefined : editing}
					sendsMail={data.sends_mail}
					taken={data.channels.map(({ kind }) => kind)}
					onClose={() => setEditing(null)}
				/>
			)}
			<Confirm
				opened={deleting !== null}
				onClose={() => setDeleting(null)}
				title="Delete the channel?"
				action="Delete the channel"
				onConfirm={async () => {
					if (!deleting) return;
					await call("deleteNotificationChannel", {
						organization_id: organizationId,
						id: deleting.id,
					});
					await forgetReadings();
				}}
			>
				Nobody is told anything through {deleting?.name} any more. The list of
				its deliveries is deleted too.
			</Confirm>
		</>
	);
}
