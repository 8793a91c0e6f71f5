import { Text } from "@mantine/core";
import { PageHeader } from "../../parts/page-header.tsx";

export function Page() {
	return (
		<>
			<PageHeader title="Risk matrix" />
			<Text c="dimmed">This page is being made.</Text>
		</>
	);
}
