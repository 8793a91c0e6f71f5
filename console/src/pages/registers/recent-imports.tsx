import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OutputOf } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { countOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { DateTime } from "../../parts/time.tsx";
import { formatTime } from "../../parts/time-formats.ts";
import { operationQuery } from "../../queries.ts";
import { RollBackImport } from "./roll-back-import.tsx";

type Import = OutputOf<"listImports">["imports"][number];

/** Lists the last imports into a register. The user who made an import can roll it back. */
export function RecentImports({ kind }: { kind: KindDescription }) {
	const { organizationId, mayAdmin } = useOrganization();
	const [asked, setAsked] = useState<Import>();
	const found = useQuery(
		operationQuery("listImports", {
			organization_id: organizationId,
			kind: kind.kind,
		}),
	);
	const imports = found.data?.imports ?? [];
	if (found.isSuccess && imports.length === 0) return null;
	return (
		<Paper withBorder p="lg" component="section" aria-label="Recent imports">
			<Title order={2} mb="sm">
				Recent imports
			</Title>
			{found.isPending && <RowsSkeleton rows={2} />}
			{found.isError && (
				<ErrorState error={found.error} onRetry={() => found.refetch()} />
			)}
			<Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: "none" }}>
				{imports.map((one) => (
					<Group component="li" key={one.id} justify="space-between" gap="xs">
						<div>
							<Text size="sm">
								{countsOf(one, kind)} by {one.imported_by ?? "a former member"}
							</Text>
							<Text size="xs" c="dimmed" component="div">
								<DateTime value={one.imported_at} />
								{one.rolled_back_at && (
									<>
										, rolled back <DateTime value={one.rolled_back_at} /> by{" "}
										{one.rolled_back_by ?? "a former member"}
										{one.kept ? `, except ${countOf(kind, one.kept)}` : ""}
									</>
								)}
							</Text>
						</div>
						{!one.rolled_back_at && (mayAdmin || one.is_own) && (
							<Button
								size="xs"
								variant="default"
								aria-haspopup="dialog"
								aria-label={`Roll back the import of ${formatTime(one.imported_at)}`}
								onClick={() => setAsked(one)}
							>
								Roll back …
							</Button>
						)}
					</Group>
				))}
			</Stack>
			{asked && (
				<RollBackImport
					id={asked.id}
					kind={kind}
					onClose={() => setAsked(undefined)}
				/>
			)}
		</Paper>
	);
}

/** Returns, for example, "3 risks added and 1 changed". */
function countsOf({ added, updated }: Import, kind: KindDescription): string {
	if (updated === 0) return `${countOf(kind, added)} added`;
	if (added === 0) return `${countOf(kind, updated)} changed`;
	return `${countOf(kind, added)} added and ${updated.toLocaleString()} changed`;
}
