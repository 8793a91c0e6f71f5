import { Button, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { OutputOf } from "../../api.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";

type Request = OutputOf<"getProvisioning">["requests"][number];

const SHOWN = 10;

const COLUMNS: Column<Request>[] = [
	{
		id: "request",
		header: "Request",
		cell: ({ method, path, detail }) => (
			<>
				<Text size="sm" fw={500}>
					{method} {path}
				</Text>
				{detail && (
					<Text size="xs" style={{ overflowWrap: "anywhere" }}>
						{detail}
					</Text>
				)}
			</>
		),
	},
	{
		id: "answer",
		header: "Answer",
		width: 140,
		cell: ({ status }) => (
			<StatusBadge
				tone={status < 400 ? "good" : "bad"}
				label={status < 400 ? `Done (${status})` : `Rejected (${status})`}
			/>
		),
	},
	{
		id: "when",
		header: "When",
		width: 170,
		cell: ({ at, credential }) => (
			<>
				<DateTime value={at} />
				<Text size="xs" c="dimmed">
					{credential}
				</Text>
			</>
		),
	},
];

/** Lists what the provider asked for lately: changes, and everything that was refused. */
export function ScimRequests({ requests }: { requests: readonly Request[] }) {
	const [showsAll, setShowsAll] = useState(false);
	return (
		<Stack gap="xs">
			<Title order={3}>Last changes and rejected requests</Title>
			{requests.length === 0 ? (
				<Text size="sm">The provider has asked for no change yet.</Text>
			) : (
				<DataTable
					label="Last changes and rejected requests"
					columns={COLUMNS}
					rows={showsAll ? requests : requests.slice(0, SHOWN)}
				/>
			)}
			{requests.length > SHOWN && !showsAll && (
				<Button
					variant="default"
					onClick={() => setShowsAll(true)}
					style={{ alignSelf: "flex-start" }}
				>
					Show all {requests.length}
				</Button>
			)}
		</Stack>
	);
}
