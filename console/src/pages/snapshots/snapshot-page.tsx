import { Button, Tabs } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { LinksPanel } from "../../parts/records/links-panel.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { SinceThen } from "./since-then.tsx";
import { SnapshotFacts } from "./snapshot-facts.tsx";
import { SnapshotRecords } from "./snapshot-records.tsx";
import type { Snapshot } from "./snapshot-words.ts";

/** Shows a snapshot: what it is, its records, what has changed since, and its links. */
export function Page() {
	const { id } = useParams({ strict: false }) as { id: string };
	const { organizationId } = useOrganization();
	const { tab = "records" } = useSearch({ strict: false }) as { tab?: string };
	const navigate = useNavigate();
	const found = useQuery(operationQuery("getSnapshot", { id }));
	if (found.isPending) return <PageSkeleton />;
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={found.refetch} />;
	}
	const { snapshot } = found.data;
	return (
		<>
			<PageHeader
				parent={
					<TextLink
						to="/o/$org/snapshots"
						params={{ org: organizationId }}
						inherit
					>
						Snapshots
					</TextLink>
				}
				title={snapshot.name}
				description={snapshot.description ?? undefined}
				actions={<Actions snapshot={snapshot} />}
			/>
			<SnapshotFacts snapshot={snapshot} />
			<Tabs
				value={tab}
				onChange={(to) =>
					navigate({
						to: "/o/$org/snapshots/$id",
						params: { org: organizationId, id },
						search: to && to !== "records" ? { tab: to } : {},
						replace: true,
					})
				}
				keepMounted={false}
				mt="lg"
			>
				<Tabs.List mb="md">
					<Tabs.Tab value="records">Records</Tabs.Tab>
					<Tabs.Tab value="since">Changed since</Tabs.Tab>
					<Tabs.Tab value="links">Linked records</Tabs.Tab>
				</Tabs.List>
				<Tabs.Panel value="records">
					<SnapshotRecords snapshot={snapshot} />
				</Tabs.Panel>
				<Tabs.Panel value="since">
					<SinceThen snapshot={snapshot} />
				</Tabs.Panel>
				<Tabs.Panel value="links">
					<LinksPanel
						organizationId={organizationId}
						kind="snapshot"
						id={snapshot.id}
					/>
				</Tabs.Panel>
			</Tabs>
		</>
	);
}

function Actions({ snapshot }: { snapshot: Snapshot }) {
	const { organizationId, mayAdmin } = useOrganization();
	const [isDeleting, setDeleting] = useState(false);
	const navigate = useNavigate();
	return (
		<>
			{mayAdmin && (
				<Button variant="default" onClick={() => setDeleting(true)}>
					Delete …
				</Button>
			)}
			<Button
				component="a"
				href={`/api/console/files/${snapshot.id}/download`}
				download
				leftSection={<IconDownload size={16} aria-hidden />}
			>
				Download
			</Button>
			<Confirm
				opened={isDeleting}
				onClose={() => setDeleting(false)}
				title={`Delete the snapshot “${snapshot.name}”?`}
				action="Delete the snapshot"
				onConfirm={async () => {
					await call("deleteSnapshot", { id: snapshot.id });
					await navigate({
						to: "/o/$org/snapshots",
						params: { org: organizationId },
						ignoreBlocker: true,
					});
					await forgetReadings();
				}}
			>
				Its records and links go with it, and the audit log keeps its hash. This
				cannot be undone.
			</Confirm>
		</>
	);
}
