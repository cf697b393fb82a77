"""Pages that compare this project with others: mock servers, tables of features, testers of servers."""
