module example.com/tested-agent

go 1.19
