import { Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { REPORTS } from "./reports.ts";

/** Lists the reports. */
export function Page() {
	const { organizationId: org } = useOrganization();
	return (
		<>
			<PageHeader
				title="Reports"
				description="To read, to print, and as PDF, Excel or CSV. Viewers, such as auditors, can open them too."
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
		</>
	);
}
