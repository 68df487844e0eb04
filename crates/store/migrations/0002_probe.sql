-- One row that readiness writes to when it must know whether writing works.
CREATE PLATFORM TABLE probe VIA any (
  id INT PRIMARY KEY,
  beats INT NOT NULL
);
