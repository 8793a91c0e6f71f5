import { Button, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { IconPackageExport } from "@tabler/icons-react";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { AuditPackage } from "../../parts/audit-package.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { REPORTS } from "./reports.ts";

/** Lists the reports. */
export function Page() {
	const { organizationId: org, mayAdmin } = useOrganization();
	const [isPacking, setPacking] = useState(false);
	return (
		<>
			<PageHeader
				title="Reports"
				description="To read, to print, and as PDF, Excel or CSV. Viewers, such as auditors, can open them too."
				actions={
					mayAdmin && (
						<Button
							variant="default"
							leftSection={<IconPackageExport size={16} aria-hidden />}
							onClick={() => setPacking(true)}
						>
							Audit package …
						</Button>
					)
				}
			/>
			<SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
				{Object.entries(REPORTS).map(([report, { title, about }]) => (
					<Paper key={report} withBorder p="md">
						<Title order={2} mb={4}>
							<TextLink
								to="/o/$org/reports/$report"
								params={{ org, report }}
								inherit
							>
								{title}
							</TextLink>
						</Title>
						<Text size="sm" c="dimmed">
							{about}
						</Text>
					</Paper>
				))}
			</SimpleGrid>
			{isPacking && <AuditPackage onClose={() => setPacking(false)} />}
		</>
	);
}
