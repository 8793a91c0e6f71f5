import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { CHANNEL_WORDS } from "./channel-words.ts";
import { NotificationDeliveries } from "./notification-deliveries.tsx";
import { NotificationDialog } from "./notification-dialog.tsx";

export type Channel = OutputOf<"listNotificationChannels">["channels"][number];

/** Chooses who is told what, by mail or in a chat. */
export function Page() {
	const { organizationId } = useOrganization();
	const [editing, setEditing] = useState<Channel | "new" | null>(null);
	const [deleting, setDeleting] = useState<Channel | null>(null);
	const [shownId, setShownId] = useState<string | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const { data } = useSuspenseQuery(
		operationQuery("listNotificationChannels", {
			organization_id: organizationId,
		}),
	);
	const shown = data.channels.find(({ id }) => id === shownId);
	const test = async ({ id }: Channel) => {
		try {
			setError(null);
			const { sent_to } = await call("testNotificationChannel", {
				organization_id: organizationId,
				id,
			});
			notifications.show({
				message:
					sent_to === "CHAT"
						? "A test message is queued."
						: "A test mail to you is queued.",
			});
			if (sent_to === "CHAT") setShownId(id);
		} catch (reason) {
			setError(reason as Error);
		}
		await forgetReadings();
	};
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
		{ id: "state", header: "State", cell: (row) => <State channel={row} /> },
		{
			id: "actions",
			header: "Actions",
			align: "right",
			cell: (row) => (
				<Group gap="xs" justify="flex-end">
					<Action label="Test" of={row} onClick={() => test(row)} />
					<Action
						label="Deliveries"
						of={row}
						onClick={() => setShownId(row.id === shownId ? null : row.id)}
					/>
					<Action label="Change" of={row} onClick={() => setEditing(row)} />
					<Action label="Delete" of={row} onClick={() => setDeleting(row)} />
				</Group>
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
						This service has no mail server, so it can tell chats only. The
						operator of the service can set ASSAY_SMTP_URL. The console shows
						everything in any case.
					</Text>
				)}
				{data.channels.length > 0 ? (
					<DataTable label="Channels" columns={columns} rows={data.channels} />
				) : (
					<EmptyState title="Nobody is told yet">
						Add a channel to send the owners of devices a weekly mail, or to
						tell your team's chat when a check fails.
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

function Action({
	label,
	of,
	onClick,
}: {
	label: string;
	of: Channel;
	onClick: () => void;
}) {
	return (
		<Button
			size="compact-sm"
			variant="default"
			onClick={onClick}
			aria-label={`${label}: ${of.name}`}
		>
			{label}
		</Button>
	);
}

function State({ channel }: { channel: Channel }) {
	const { is_enabled, failing_since, next_digest_at } = channel;
	if (!is_enabled) return <StatusBadge tone="neutral" label="Disabled" />;
	return (
		<>
			<StatusBadge
				tone={failing_since ? "warning" : "good"}
				label={failing_since ? "Failing" : "Enabled"}
			/>
			{failing_since && (
				<Text size="xs" mt={4}>
					Since <RelativeTime value={failing_since} />
				</Text>
			)}
			{next_digest_at && (
				<Text size="xs" mt={4}>
					Next mails: <DateTime value={next_digest_at} />
				</Text>
			)}
		</>
	);
}
